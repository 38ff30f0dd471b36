import { type FileSystem, isStorageError, OutcomeUnknownError } from '@scratchfs/core';
import { type Dump, Random } from '@scratchfs/testkit';
import { type AbortReport, watchedSignal } from '../aborts.js';
import { type Change, errorOf, noting, placed } from './trial.js';

export type Pace = 'quick' | 'slow' | 'hanging';

/** A way to a storage that can be made slow or silent, and that tells of its requests. */
export interface AbortLine {
  /** Requests since it was told to forget. */
  readonly requests: number;
  forget(): void;
  /** From now on: as quick as it is, slow, or silent from a request on. */
  pace(pace: Pace, silentFrom: number): void;
  onRequest(listener: (index: number) => void): void;
}

/** Where changes are aborted. */
export interface AbortGround {
  readonly before: Dump;
  readonly changes: readonly (readonly [name: string, change: Change])[];
  /** What a change makes of it when nothing goes wrong. */
  after(name: string, change: Change): Promise<Dump>;
  /** Lends a client on a copy of its own, the line that leads there, and a look at the state. */
  lend(work: (fs: FileSystem, line: AbortLine, state: () => Promise<Dump>) => Promise<boolean>): Promise<boolean>;
  /** Until what is still on its way has arrived, where a look at the state alone does not mean that. */
  arrived?(fs: FileSystem): Promise<unknown>;
}

const PACES: readonly Pace[] = ['quick', 'slow', 'hanging'];
export const SLOW_MS = 15;
const SETTLE_WITHIN_MS = 1_000;
const MOST_REQUESTS = 50;

/** Every change, aborted when its request 0, 1, 2 … is on the way, a little later at random, until so many were aborted. */
export async function abortEverywhere(
  ground: AbortGround,
  seed: number,
  wanted: number,
  report: AbortReport,
): Promise<void> {
  const random = new Random(seed);
  for (const [name, change] of ground.changes) {
    const after = await ground.after(name, change);
    for (const pace of PACES) {
      for (let at = 0; at < MOST_REQUESTS && report.aborts < wanted; at++) {
        const what = `seed ${seed}, ${name}, ${pace}, aborted at request ${at}`;
        const laterMs = random.below(4);
        const isReached = await ground.lend((fs, line, state) =>
          abortOnce({ ground, after, fs, line, state, change, pace, at, laterMs, what }, report),
        );
        if (!isReached) break;
      }
    }
  }
}

interface Abort {
  readonly ground: AbortGround;
  readonly after: Dump;
  readonly fs: FileSystem;
  readonly line: AbortLine;
  readonly state: () => Promise<Dump>;
  readonly change: Change;
  readonly pace: Pace;
  readonly at: number;
  readonly laterMs: number;
  readonly what: string;
}

/** Answers whether the change came so far. */
async function abortOnce(
  { ground, after, fs, line, state, change, pace, at, laterMs, what }: Abort,
  report: AbortReport,
): Promise<boolean> {
  const problem = noting(report.problems, what);
  await fs.stats();
  line.forget();
  const { signal, abort, listeners } = watchedSignal();
  const reason = new Error('enough');
  let isAborted = false;
  // A process that does not get its turn runs no timer either: one that has run was there in time.
  let isLate = false;
  let late: NodeJS.Timeout | undefined;
  line.pace(pace, at);
  line.onRequest((index) => {
    if (index !== at) return;
    setTimeout(() => {
      isAborted = true;
      late = setTimeout(() => {
        isLate = true;
      }, SETTLE_WITHIN_MS);
      abort(reason);
    }, laterMs);
  });
  const error = await errorOf(change(fs, signal));
  clearTimeout(late);
  const isReached = line.requests > at;
  line.forget();
  if (!isAborted) return isReached;
  report.aborts += 1;
  if (isLate) problem(`not settled ${SETTLE_WITHIN_MS} ms after the abort`);
  if (listeners() !== 0) problem(`${listeners()} listeners stayed`);
  await ground.arrived?.(fs);
  const where = placed(ground.before, after, await state(), problem);
  if (where === undefined) return true;
  if (error === undefined) {
    report.succeeded += 1;
    if (!where.isAfter) problem('it succeeded, but did not happen');
  } else if (error !== reason && !(isStorageError(error) && error instanceof OutcomeUnknownError))
    problem(`rejected with ${String(error)} instead of the reason`);
  else if (error === reason && !where.isBefore) problem('it was rejected, but happened');
  return true;
}
