import type { Backend } from '@scratchfs/core';
import { type Dump, differences, type FaultPlan, faultyBackend, Scheduler } from '@scratchfs/testkit';
import { changesOf, client, dumpWithCheckpoints, freshBackend, plantCheckpointedScene } from './harness.js';
import type { Change } from './remote/trial.js';

export interface AbortReport {
  aborts: number;
  /** Operations that had already taken effect, and reported it, when the signal was aborted. */
  succeeded: number;
  readonly problems: string[];
}

type Speed = 'quick' | 'slow' | 'hanging';

/**
 * Aborts every change at its call 0, 1, 2 …, when the call begins or while its reply is on the way, on a storage that
 * is fast, slow or hangs.
 */
export async function abortEveryChange(seed: number, report: AbortReport): Promise<void> {
  const before = await stateOf(await freshScene());
  for (const [name, change] of changesOf()) {
    const reference = await freshScene();
    await change(await client(reference));
    const after = await stateOf(reference);
    for (const speed of ['quick', 'slow', 'hanging'] as const) {
      for (let at = 0; at < 50; at++) {
        const what = `${name}, ${speed}, aborted at call ${at}`;
        if (!(await abortOnce(before, after, change, speed, at, seed, what, report))) break;
      }
    }
  }
}

async function freshScene(): Promise<Backend> {
  const backend = freshBackend();
  await plantCheckpointedScene(await client(backend));
  return backend;
}

async function stateOf(backend: Backend): Promise<Dump> {
  return dumpWithCheckpoints(await client(backend));
}

async function abortOnce(
  before: Dump,
  after: Dump,
  change: Change,
  speed: Speed,
  at: number,
  seed: number,
  what: string,
  report: AbortReport,
): Promise<boolean> {
  const backend = await freshScene();
  const scheduler = new Scheduler(seed);
  const { signal, abort, listeners } = watchedSignal();
  const reason = new Error('enough');
  const plan: FaultPlan = ({ index, method }) =>
    speed === 'hanging' && index >= at && method !== 'outcome' ? 'hang' : 'none';
  let abortedAt: number | undefined;
  const faulty = faultyBackend(backend, plan, {
    ...(speed === 'slow' ? { scheduler } : {}),
    onCall: ({ index }) => {
      if (index !== at) return;
      const now = (): void => {
        abortedAt = scheduler.now;
        abort(reason);
      };
      // Half of the seeds abort during the call.
      if (seed % 2 === 0) now();
      else void scheduler.turn('abort').then(now);
    },
  });
  const fs = await client(faulty, { scheduler, timeoutMs: 30_000 });
  const problem = (text: string): void => {
    if (report.problems.length < 50) report.problems.push(`${what}: ${text}`);
  };
  let error: unknown;
  try {
    await scheduler.run(change(fs, signal));
  } catch (thrown) {
    error = thrown;
  }
  if (abortedAt === undefined) return at < faulty.calls;
  report.aborts += 1;
  if (scheduler.now - abortedAt > 1_000) problem(`settled ${scheduler.now - abortedAt} virtual ms after the abort`);
  if (listeners() !== 0) problem(`${listeners()} listeners stayed`);
  const state = await stateOf(backend);
  if (error === undefined) {
    report.succeeded += 1;
    if (differences(after, state).length > 0)
      problem(`succeeded, but is between: ${differences(after, state).slice(0, 2).join('; ')}`);
  } else if (error !== reason) {
    if ((error as Error).name !== 'OutcomeUnknownError')
      problem(`rejected with ${String(error)} instead of the reason`);
    else if (differences(before, state).length > 0 && differences(after, state).length > 0) problem('between');
  } else if (differences(before, state).length > 0)
    problem(`rejected, but changed: ${differences(before, state).slice(0, 2).join('; ')}`);
  return true;
}

/** A signal that knows its listeners. */
export function watchedSignal(): { signal: AbortSignal; abort: (reason: unknown) => void; listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  const heard = new Set<unknown>();
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (type: string, listener: EventListener, options?: AddEventListenerOptions): void => {
    heard.add(listener);
    add(type, listener, options);
  };
  signal.removeEventListener = (type: string, listener: EventListener): void => {
    heard.delete(listener);
    remove(type, listener);
  };
  const abort = (reason: unknown): void => {
    controller.abort(reason);
    // `once` listeners are removed after the event.
    heard.clear();
  };
  return { signal, abort, listeners: () => heard.size };
}
