import { asyncForm, type FileSystem, type SyncFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import {
  apply,
  applySync,
  differences,
  dump,
  dumpSync,
  type Handles,
  type OperationName,
  type Outcome,
  Random,
  type Step,
  steps,
} from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import { isEqual } from './outcome.js';
import { printSteps } from './print.js';
import { Ticks } from './subject.js';

/** Two forms of one filesystem that must be equal in everything, times and counters included. */
export interface Forms {
  readonly operations: readonly OperationName[];
  readonly openSync: (clock: () => number) => SyncFileSystem;
  readonly open: (clock: () => number) => FileSystem | Promise<FileSystem>;
}

/** Opens a filesystem on the remote engine over memory storage. */
export function openAsync(clock: () => number): Promise<FileSystem> {
  return createFileSystem({ storage: asyncForm(new MemoryStorage({ clock })), clock });
}

export interface FormsReport {
  readonly seed: number;
  readonly operations: number;
  readonly succeeded: number;
  /** The first difference, as text with the sequence that leads to it. Undefined if there is none. */
  readonly difference: string | undefined;
  readonly seconds: number;
}

const SEQUENCE = 500;
const DUMP_INTERVAL = 25;

/** Plays the same steps through the `…Sync` methods of one form and the promise methods of the other. */
export async function compareForms(seed: number, operations: number, forms: Forms): Promise<FormsReport> {
  const started = performance.now();
  const random = new Random(seed);
  let done = 0;
  let succeeded = 0;
  let difference: string | undefined;
  while (done < operations && difference === undefined) {
    const length = Math.min(SEQUENCE, operations - done);
    const played = [...steps(random.next(), length, { operations: forms.operations })];
    const result = await compareSequence(played, forms);
    done += result.operations;
    succeeded += result.succeeded;
    if (result.difference !== undefined)
      difference = await explain(played.slice(0, result.operations), result.difference, forms);
  }
  return { seed, operations: done, succeeded, difference, seconds: (performance.now() - started) / 1000 };
}

interface SequenceResult {
  readonly operations: number;
  readonly succeeded: number;
  readonly difference: string | undefined;
}

async function compareSequence(
  played: readonly Step[],
  forms: Forms,
  interval = DUMP_INTERVAL,
): Promise<SequenceResult> {
  const ticks = new Ticks();
  const left = forms.openSync(ticks.clock);
  const right = await forms.open(ticks.clock);
  const handles: readonly [Handles, Handles] = [new Map(), new Map()];
  let index = 0;
  let succeeded = 0;
  try {
    for (const step of played) {
      ticks.now += 1;
      index += 1;
      const expected = applySync(left, step, handles[0]);
      const actual = await apply(right, step, handles[1]);
      if ('value' in expected) succeeded += 1;
      if (!isEqual(expected, actual)) {
        return { operations: index, succeeded, difference: `${show(expected)} by …Sync, ${show(actual)} by promise` };
      }
      if (index % interval === 0 || index === played.length) {
        const found = differences(dumpSync(left), await dump(right));
        if (found.length > 0) return { operations: index, succeeded, difference: found.slice(0, 5).join('\n') };
      }
    }
    return { operations: index, succeeded, difference: undefined };
  } finally {
    await left.close();
    await right.close();
  }
}

/** Leaves out ever smaller parts while a difference remains. */
async function explain(played: readonly Step[], difference: string, forms: Forms): Promise<string> {
  const end = performance.now() + 20_000;
  let kept = played;
  let shown = difference;
  // Comparing only at the end is fastest, but some differences need the earlier comparisons.
  let interval = DUMP_INTERVAL;
  for (const candidate of [played.length, DUMP_INTERVAL, 1]) {
    const result = await compareSequence(played, forms, candidate);
    if (result.difference === undefined) continue;
    interval = candidate;
    break;
  }
  for (let size = Math.ceil(kept.length / 2), isSmaller = true; size >= 1 && performance.now() < end; ) {
    isSmaller = false;
    for (let from = kept.length - size; from > -size && performance.now() < end; from -= size) {
      const without = [...kept.slice(0, Math.max(from, 0)), ...kept.slice(from + size)];
      const result = await compareSequence(without, forms, interval);
      if (result.difference === undefined) continue;
      kept = without.slice(0, result.operations);
      shown = result.difference;
      isSmaller = true;
    }
    if (!isSmaller) size = size === 1 ? 0 : Math.ceil(size / 2);
  }
  return `${printSteps(kept)}\n// ${shown}`;
}

function show(outcome: Outcome): string {
  const text = JSON.stringify(outcome);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
