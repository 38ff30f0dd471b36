import { Random, type Step, steps } from '@scratchfs/testkit';
import { type Cell, Coverage } from './coverage.js';
import { type Difference, runSequence, type SequenceOptions, type Subject } from './fuzz.js';
import { INTENDED_DIFFERENCES } from './intended-differences.js';
import { printDifference } from './print.js';
import { shrink } from './shrink.js';
import { steer } from './steer.js';
import { Ticks } from './subject.js';
import { allowed } from './unprivileged.js';

export interface CampaignOptions {
  readonly seed: number;
  readonly operations: number;
  readonly open: (ticks: Ticks) => Subject;
  /** Kinds of differences after which the run ends. Default 1. */
  readonly maxDifferences?: number | undefined;
  /** Shortens each sequence to a minimal one that still shows the difference. Default true. */
  readonly shrink?: boolean | undefined;
  readonly times?: boolean | undefined;
  /** Leaves out steps whose operation matches, to look behind a known difference. */
  readonly omit?: RegExp | undefined;
  /** Signatures that are not collected. */
  readonly ignore?: RegExp | undefined;
  readonly onProgress?: ((done: number) => void) | undefined;
}

export interface Found {
  readonly difference: Difference;
  readonly steps: readonly Step[];
  readonly text: string;
}

export interface CampaignReport {
  readonly seed: number;
  readonly operations: number;
  readonly succeeded: number;
  readonly rarest: readonly Cell[];
  readonly excused: ReadonlyMap<string, number>;
  readonly found: readonly Found[];
  /** Hashes of all final trees in one line. The same seed gives the same line. */
  readonly hashes: string;
  readonly seconds: number;
}

/** Steps of one sequence. Each sequence has a fresh folder and a fresh filesystem and can be replayed alone. */
const SEQUENCE = 1250;

/** Runs sequences until `operations` are done: two of three from the testkit's generator, one steered by coverage. */
export function campaign(options: CampaignOptions): CampaignReport {
  // Steps give exact modes, so the umask must not change them.
  const umask = process.umask(0);
  // Half of all operations fail, and nothing reads the stacks.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return run(options);
  } finally {
    process.umask(umask);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function run(options: CampaignOptions): CampaignReport {
  const started = performance.now();
  const { seed, operations, maxDifferences = 1 } = options;
  const random = new Random(seed);
  const coverage = new Coverage();
  const excused = new Map(INTENDED_DIFFERENCES.map((row) => [row.name, 0]));
  const sequence: SequenceOptions = { open: options.open, ticks: new Ticks(), times: options.times };
  const found: Found[] = [];
  const hashes: string[] = [];
  let done = 0;
  let succeeded = 0;
  for (let round = 0; done < operations && found.length < maxDifferences; round++) {
    const own = random.split();
    const length = Math.min(SEQUENCE, operations - done);
    const report = runSequence(
      (host) =>
        round % 3 === 2
          ? take(without(steer(host, coverage, own), options.omit), length)
          : without(steps(own.seed, length), options.omit),
      { ...sequence, coverage, excused },
    );
    done += report.operations;
    succeeded += report.succeeded;
    hashes.push(report.hash);
    const { difference } = report;
    if (
      difference !== undefined &&
      options.ignore?.test(difference.signature) !== true &&
      !found.some((old) => old.difference.signature === difference.signature)
    ) {
      found.push(explain(difference, report.steps, sequence, options.shrink ?? true));
    }
    options.onProgress?.(done);
  }
  const seconds = (performance.now() - started) / 1000;
  return {
    seed,
    operations: done,
    succeeded,
    rarest: coverage.cells(),
    excused,
    found,
    hashes: hashes.join(' '),
    seconds,
  };
}

/** Finds a short sequence with the same difference and prints it as code. */
function explain(difference: Difference, played: readonly Step[], options: SequenceOptions, isShrunk: boolean): Found {
  let last = difference;
  const again = (candidate: readonly Step[]) => {
    const report = runSequence(candidate, { ...options, treeInterval: candidate.length });
    if (report.difference?.signature !== difference.signature) return false;
    last = report.difference;
    return true;
  };
  const kept = isShrunk && again(played) ? shrink(played, again) : played.slice(-20);
  return { difference: last, steps: kept, text: printDifference(last, kept) };
}

/** Formats the report for a terminal. */
export function printReport(report: CampaignReport): string {
  const { seed, operations, succeeded, rarest, excused, found, seconds } = report;
  const least = rarest[0];
  const share = operations === 0 ? 0 : (succeeded / operations) * 100;
  return [
    `seed ${seed}: ${operations} operations in ${seconds.toFixed(1)} s (${Math.round(operations / seconds)}/s), ${share.toFixed(1)}% succeeded`,
    `coverage: ${rarest.length} cells, the rarest met ${least?.count} times (${least?.name})`,
    `intended: ${[...excused].map(([name, count]) => `${name} ${count}`).join(', ')}`,
    `unexplained differences: ${found.length}`,
    ...found.map(({ text }) => `\n${text}`),
  ].join('\n');
}

function* take<T>(items: Iterable<T>, count: number): Generator<T, void, undefined> {
  let left = count;
  if (left === 0) return;
  for (const item of items) {
    yield item;
    if (--left === 0) return;
  }
}

function* without(steps: Iterable<Step>, omit: RegExp | undefined): Generator<Step, void, undefined> {
  for (const step of steps) if (omit?.test(step.op) !== true) yield allowed(step);
}
