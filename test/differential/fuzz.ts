import type { OperationName, Step } from '@scratchfs/testkit';
import { adapt } from './adapt.js';
import { COPY_OF_LINKS, type Coverage } from './coverage.js';
import { HostFolder, type Kind } from './host-folder.js';
import { differenceOf, type Outcome } from './outcome.js';
import { HostSubject } from './reference.js';
import { FIRST_TICK, type Ticks } from './subject.js';
import { changedDifferently, observe, orderedDifferently, setDifferently, type Times } from './times.js';
import { type Tree, treeDifference, treeHash } from './tree.js';
import { parentOf } from './virtual-path.js';

/** A filesystem that is compared with the disk. */
export interface Subject {
  /** Requires errors to have exactly the fields that node's errors have. */
  readonly isStrict?: boolean;
  run(step: Step): Outcome;
  times(path: string): Times | undefined;
  tree(): Tree;
  close(): void;
}

/** A step on which filesystem and disk differ, excused by no row. */
export interface Difference {
  /** Position of the step in its sequence. */
  readonly index: number;
  readonly step: Step;
  /** Operation and field of the difference; stable under shrinking. */
  readonly signature: string;
  readonly expected: string | Outcome;
  readonly actual: string | Outcome;
}

export interface SequenceReport {
  readonly operations: number;
  readonly succeeded: number;
  readonly difference: Difference | undefined;
  readonly hash: string;
  /** The steps that ran, for a replay. */
  readonly steps: readonly Step[];
}

export interface SequenceOptions {
  readonly open: (ticks: Ticks) => Subject;
  readonly ticks: Ticks;
  readonly coverage?: Coverage | undefined;
  /** Counts the operations that each row excused. */
  readonly excused?: Map<string, number> | undefined;
  /** Steps between two comparisons of the whole trees. Default 100. */
  readonly treeInterval?: number | undefined;
  /** Compares changes of times. Default true; two folders of one host have no clock to compare. */
  readonly times?: boolean | undefined;
}

/** Composite operations: node's error names an inner call, and this filesystem's error names the operation. */
const COMPOSITES: ReadonlySet<OperationName> = new Set(['rm', 'cp', 'editFile', 'getEntry', 'walk']);

const HANDLE_PREFIX = /^(read|write|handle.*)$/;

/** Runs one sequence on a fresh folder and a fresh filesystem, until its end or the first difference. */
export function runSequence(
  source: Iterable<Step> | ((host: HostSubject) => Iterable<Step>),
  options: SequenceOptions,
): SequenceReport {
  const { ticks, coverage, excused, treeInterval = 100, times = true } = options;
  ticks.now = FIRST_TICK;
  const folder = new HostFolder();
  const host = new HostSubject(folder);
  const own = options.open(ticks);
  const since = Date.now();
  let index = -1;
  let succeeded = 0;
  let difference: Difference | undefined;

  const compareTrees = (step: Step): Difference | undefined => {
    const [expected, actual] = [host.tree(), own.tree()];
    const found =
      treeDifference(expected, actual) ??
      (times ? (setDifferently(expected, actual, since) ?? orderedDifferently(expected, actual)) : undefined);
    if (found === undefined) return undefined;
    return { index, step, signature: `tree: ${found.replace(/ of .*/, '')}`, expected: found, actual: 'see above' };
  };

  const perform = (step: Step): Difference | undefined => {
    ticks.now += 1;
    const adapted = adapt(step);
    for (const row of adapted.rows) excused?.set(row.name, (excused.get(row.name) ?? 0) + 1);
    if (adapted.refused !== undefined) {
      const actual = own.run(step);
      // A null byte is also wrong and may be reported instead.
      const hasNull = Object.values(step.args).some((value) => typeof value === 'string' && value.includes('\0'));
      const expected: Outcome = { ok: false, code: adapted.refused, alternative: hasNull ? ['TypeError'] : [] };
      if (differenceOf(expected, actual, { syscall: false, paths: false }) === undefined) return undefined;
      return { index, step, signature: `${step.op}: not refused`, expected, actual };
    }
    const args = adapted.step.args as { path?: string; from?: string; to?: string };
    const given = [args.path, args.from, args.to].filter(
      (path): path is string => path?.startsWith('/') === true && !path.includes('\0'),
    );
    if (coverage !== undefined) count(coverage, host, adapted.step);
    const places = times ? placesOf(folder, given) : [];
    const before = times ? observe(places, host, own) : undefined;
    const hostNow = times ? folder.now() : 0;
    const expected = host.run(adapted.step);
    const actual = own.run(step);
    if (expected.ok) succeeded += 1;
    const isComposite = COMPOSITES.has(step.op);
    const found = differenceOf(expected, actual, {
      syscall: !isComposite,
      paths: !isComposite,
      strict: own.isStrict === true && !isComposite,
    });
    if (found !== undefined)
      return { index, step, signature: `${step.op}: ${found}${codes(expected, actual)}`, expected, actual };
    const changed = before && changedDifferently(before, places, host, own, { tick: ticks.now, hostNow });
    if (changed !== undefined) {
      return {
        index,
        step,
        signature: `${step.op}: ${changed.replace(/ of .* (changes|stays)/, ' $1')}`,
        expected: changed,
        actual: 'see above',
      };
    }
    return undefined;
  };

  const played: Step[] = [];
  try {
    for (const step of typeof source === 'function' ? source(host) : source) {
      index += 1;
      played.push(step);
      difference = perform(step);
      if (difference === undefined && (index + 1) % treeInterval === 0) difference = compareTrees(step);
      if (difference !== undefined) break;
    }
    const last = played.at(-1);
    if (difference === undefined && last !== undefined) difference = compareTrees(last);
    return { operations: index + 1, succeeded, difference, hash: treeHash(host.tree()), steps: played };
  } finally {
    own.close();
    host.close();
  }
}

/** Returns the places that an operation may touch: its paths, their link targets, and the directories above. */
function placesOf(folder: HostFolder, paths: readonly string[]): string[] {
  const places = paths.flatMap((path) => {
    const { plain, end } = folder.look(path);
    return [plain, end].flatMap(({ loop, physical }) => (loop ? [] : [folder.toVirtual(physical)]));
  });
  return [...new Set(places.flatMap((place) => [place, parentOf(place)]))];
}

function codes(expected: Outcome, actual: Outcome): string {
  const name = (outcome: Outcome) => (outcome.ok ? 'ok' : outcome.code);
  return expected.ok && actual.ok ? '' : ` (${name(expected)}, not ${name(actual)})`;
}

function count(coverage: Coverage, host: HostSubject, step: Step): void {
  const args = step.args as { path?: string; from?: string; to?: string; slot?: number };
  if (HANDLE_PREFIX.test(step.op)) {
    for (const state of host.handleStates(args.slot as number)) coverage.add(`${step.op} handle ${state}`);
    return;
  }
  const kinds: Record<string, readonly Kind[]> = {};
  for (const name of ['path', 'from', 'to'] as const) {
    const path = args[name];
    if (path?.startsWith('/') && !path.includes('\0')) kinds[name] = host.folder.kindsOf(path);
  }
  coverage.addPaths(step.op, kinds);
  if (step.op !== 'cp' || !step.args.recursive || !kinds.to?.includes('missing')) return;
  if (kinds.from?.includes('full-directory') && host.folder.hasLinks(step.args.from)) coverage.add(COPY_OF_LINKS);
}
