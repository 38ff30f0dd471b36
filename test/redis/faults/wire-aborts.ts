import type { FileSystem } from '@scratchfs/core';
import { isStorageError, OutcomeUnknownError } from '@scratchfs/core';
import { type Dump, differences, Random } from '@scratchfs/testkit';
import { type AbortReport, watchedSignal } from '../../faults/aborts.js';
import { clock } from '../../faults/harness.js';
import { type Place, stateAt, withClient, withPort } from '../clients.js';
import { TcpProxy } from '../proxy/tcp-proxy.js';
import { dropNamespace } from '../servers/namespaces.js';
import type { Change, Scene } from './scene.js';

export type Pace = 'quick' | 'slow' | 'hanging';

const SLOW_MS = 15;
const SETTLE_WITHIN_MS = 1_000;

/** Every change, aborted when its command 0, 1, 2 … is on the way, and at random times. */
export async function abortEverywhere(scene: Scene, seed: number, report: AbortReport): Promise<void> {
  const random = new Random(seed);
  for (const [name, change] of scene.changes) {
    for (const pace of ['quick', 'slow', 'hanging'] as const) {
      for (let at = 0; at < 50; at++) {
        const what = `seed ${seed}, ${name}, ${pace}, aborted at command ${at}`;
        if (!(await abortOnce(scene, name, change, pace, at, random.below(4), what, report))) break;
      }
    }
  }
}

/** Answers whether the change came so far. */
async function abortOnce(
  scene: Scene,
  name: string,
  change: Change,
  pace: Pace,
  at: number,
  laterMs: number,
  what: string,
  report: AbortReport,
): Promise<boolean> {
  const after = await scene.after(name, change);
  const place = await scene.copy();
  const proxy = await TcpProxy.open(scene.server.port);
  try {
    return await withClient(
      withPort(place, proxy.port),
      (fs) => watchAbort(scene.before, after, fs, change, proxy, place, pace, at, laterMs, what, report),
      { clock: clock.read, timeoutMs: 30_000 },
    );
  } finally {
    await proxy.close();
    await dropNamespace(scene.server.control, place.namespace);
  }
}

async function watchAbort(
  before: Dump,
  after: Dump,
  fs: FileSystem,
  change: Change,
  proxy: TcpProxy,
  place: Place,
  pace: Pace,
  at: number,
  laterMs: number,
  what: string,
  report: AbortReport,
): Promise<boolean> {
  const problem = (text: string): void => {
    if (report.problems.length < 50) report.problems.push(`${what}: ${text}`);
  };
  const { signal, abort, listeners } = watchedSignal();
  const reason = new Error('enough');
  let abortedAt: number | undefined;
  await fs.stats();
  proxy.forget();
  if (pace === 'slow') proxy.delayMs = SLOW_MS;
  if (pace === 'hanging') proxy.plan = ({ index }) => (index >= at ? 'hang' : 'none');
  proxy.onCommand = ({ index }) => {
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
  const isReached = proxy.commands > at;
  proxy.forget();
  if (abortedAt === undefined) return isReached;
  report.aborts += 1;
  if (tookMs > SETTLE_WITHIN_MS) problem(`settled ${Math.round(tookMs)} ms after the abort`);
  if (listeners() !== 0) problem(`${listeners()} listeners stayed`);
  const state = await stateAt(place);
  const isBefore = differences(before, state).length === 0;
  const isAfter = differences(after, state).length === 0;
  if (!isBefore && !isAfter) problem(`between: ${differences(after, state).slice(0, 2).join('; ')}`);
  else if (error === undefined) {
    report.succeeded += 1;
    if (!isAfter) problem('it succeeded, but did not happen');
  } else if (error !== reason && !(isStorageError(error) && error instanceof OutcomeUnknownError))
    problem(`rejected with ${String(error)} instead of the reason`);
  else if (error === reason && !isBefore) problem('it was rejected, but happened');
  return true;
}
