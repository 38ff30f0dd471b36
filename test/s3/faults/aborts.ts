import { isStorageError, OutcomeUnknownError } from '@scratchfs/core';
import { differences, Random } from '@scratchfs/testkit';
import { type AbortReport, watchedSignal } from '../../faults/aborts.js';
import { HttpProxy } from '../proxy/http-proxy.js';
import { clientOf } from '../servers/test-bucket.js';
import { backendOn, type Change, fileSystemOn, type Scene } from './scene.js';

export type Pace = 'quick' | 'slow' | 'hanging';

const SLOW_MS = 15;
const SETTLE_WITHIN_MS = 1_000;
const MOST_REQUESTS = 50;

/** Every change, aborted when its request 0, 1, 2 … is on the way, a little later at random, until so many were aborted. */
export async function abortEverywhere(
  scene: Scene,
  endpoint: string,
  seed: number,
  wanted: number,
  report: AbortReport,
): Promise<void> {
  const random = new Random(seed);
  for (const [name, change] of scene.changes) {
    for (const pace of ['quick', 'slow', 'hanging'] as const) {
      for (let at = 0; at < MOST_REQUESTS && report.aborts < wanted; at++) {
        const what = `seed ${seed}, ${name}, ${pace}, aborted at request ${at}`;
        if (!(await abortOnce(scene, endpoint, name, change, pace, at, random.below(4), what, report))) break;
      }
    }
  }
}

/** Answers whether the change came so far. */
async function abortOnce(
  scene: Scene,
  endpoint: string,
  name: string,
  change: Change,
  pace: Pace,
  at: number,
  laterMs: number,
  what: string,
  report: AbortReport,
): Promise<boolean> {
  const problem = (text: string): void => {
    if (report.problems.length < 50) report.problems.push(`${what}: ${text}`);
  };
  const after = await scene.after(name, change);
  const place = await scene.copy();
  const proxy = await HttpProxy.start(endpoint);
  const client = clientOf({ ...place, endpoint: proxy.endpoint });
  const backend = backendOn(client, place, 30_000);
  try {
    const fs = await fileSystemOn(backend, 30_000);
    await fs.stats();
    proxy.forget();
    const { signal, abort, listeners } = watchedSignal();
    const reason = new Error('enough');
    let abortedAt: number | undefined;
    proxy.plan = ({ index }) =>
      pace === 'hanging' && index >= at ? 'silence' : pace === 'slow' ? { delayMs: SLOW_MS } : 'none';
    proxy.onRequest = ({ index }) => {
      if (index !== at) return;
      setTimeout(() => {
        abortedAt = performance.now();
        abort(reason);
      }, laterMs);
    };
    const error = await change(fs, signal).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const tookMs = performance.now() - (abortedAt ?? performance.now());
    const isReached = proxy.seen.length > at;
    proxy.forget();
    if (abortedAt === undefined) return isReached;
    report.aborts += 1;
    if (tookMs > SETTLE_WITHIN_MS) problem(`settled ${Math.round(tookMs)} ms after the abort`);
    if (listeners() !== 0) problem(`${listeners()} listeners stayed`);
    // What is still on its way arrives before this does.
    await fs.writeFile('/follow-up', 'works');
    await fs.rm('/follow-up');
    const state = await scene.stateAt(place);
    const isBefore = differences(scene.before, state).length === 0;
    const isAfter = differences(after, state).length === 0;
    if (!isBefore && !isAfter) problem(`between: ${differences(after, state).slice(0, 2).join('; ')}`);
    else if (error === undefined) {
      report.succeeded += 1;
      if (!isAfter) problem('it succeeded, but did not happen');
    } else if (error !== reason && !(isStorageError(error) && error instanceof OutcomeUnknownError))
      problem(`rejected with ${String(error)} instead of the reason`);
    else if (error === reason && !isBefore) problem('it was rejected, but happened');
    return true;
  } finally {
    await backend.close();
    client.destroy();
    await proxy.stop();
  }
}
