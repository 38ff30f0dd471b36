import { type FileSystem, isStorageError, OutcomeUnknownError } from '@scratchfs/core';
import { type Dump, Random } from '@scratchfs/testkit';
import { type AbortReport, watchedSignal } from '../aborts.js';
import { startTurnClock } from '../turn-clock.js';
import { type Change, classifyState, errorOf, problemCollector } from './trial.js';

export type LineSpeed = 'quick' | 'slow' | 'hanging';

/** A line to a storage that can be made slow or silent and reports its requests. */
export interface ThrottledLine {
  /** Requests since the last `forget`. */
  readonly requests: number;
  forget(): void;
  /** Sets the line to full speed, slow, or silent from a given request on. */
  pace(pace: LineSpeed, silentFrom: number): void;
  onRequest(listener: (index: number) => void): void;
}

/** The storage on which changes are aborted. */
export interface AbortTarget {
  readonly before: Dump;
  readonly changes: readonly (readonly [name: string, change: Change])[];
  /** Returns the state after a change without faults. */
  after(name: string, change: Change): Promise<Dump>;
  /** Passes a client of a separate copy, its line, and a function that reads the state. */
  lend(work: (fs: FileSystem, line: ThrottledLine, state: () => Promise<Dump>) => Promise<boolean>): Promise<boolean>;
  /** Waits for requests that are still on the way, if reading the state does not. */
  arrived?(fs: FileSystem): Promise<unknown>;
}

const PACES: readonly LineSpeed[] = ['quick', 'slow', 'hanging'];
export const SLOW_REQUEST_MS = 15;
const MAX_SETTLE_MS = 1_000;
const MAX_REQUESTS = 50;

/** Aborts every change while its request 0, 1, 2 … is on the way, or a random time later, until enough were aborted. */
export async function abortEverywhere(
  ground: AbortTarget,
  seed: number,
  wanted: number,
  report: AbortReport,
): Promise<void> {
  const random = new Random(seed);
  for (const [name, change] of ground.changes) {
    const after = await ground.after(name, change);
    for (const pace of PACES) {
      for (let at = 0; at < MAX_REQUESTS && report.aborts < wanted; at++) {
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
  readonly ground: AbortTarget;
  readonly after: Dump;
  readonly fs: FileSystem;
  readonly line: ThrottledLine;
  readonly state: () => Promise<Dump>;
  readonly change: Change;
  readonly pace: LineSpeed;
  readonly at: number;
  readonly laterMs: number;
  readonly what: string;
}

/** Returns true if the change got that far. */
async function abortOnce(
  { ground, after, fs, line, state, change, pace, at, laterMs, what }: Abort,
  report: AbortReport,
): Promise<boolean> {
  const problem = problemCollector(report.problems, what);
  await fs.stats();
  line.forget();
  const { signal, abort, listeners } = watchedSignal();
  const reason = new Error('enough');
  let isAborted = false;
  let timer: NodeJS.Timeout | undefined;
  let elapsed = (): number => 0;
  line.pace(pace, at);
  line.onRequest((index) => {
    if (index !== at) return;
    timer = setTimeout(() => {
      isAborted = true;
      elapsed = startTurnClock();
      abort(reason);
    }, laterMs);
  });
  const error = await errorOf(change(fs, signal));
  clearTimeout(timer);
  const settledMs = elapsed();
  const isReached = line.requests > at;
  line.forget();
  if (!isAborted) return isReached;
  report.aborts += 1;
  if (settledMs > MAX_SETTLE_MS) problem(`not settled ${MAX_SETTLE_MS} ms after the abort`);
  if (listeners() !== 0) problem(`${listeners()} listeners stayed`);
  await ground.arrived?.(fs);
  const where = classifyState(ground.before, after, await state(), problem);
  if (where === undefined) return true;
  if (error === undefined) {
    report.succeeded += 1;
    if (!where.isAfter) problem('it succeeded, but did not happen');
  } else if (error !== reason && !(isStorageError(error) && error instanceof OutcomeUnknownError))
    problem(`rejected with ${String(error)} instead of the reason`);
  else if (error === reason && !where.isBefore) problem('it was rejected, but happened');
  return true;
}
