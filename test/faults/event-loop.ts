import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';

interface Slices {
  readonly longest: number;
  readonly p99: number;
  readonly count: number;
}

/** Slices with the slowness of the machine before or after, whichever is greater. */
interface Tried extends Slices {
  readonly slow: number;
}

/**
 * Returns the CPU milliseconds of the longest stretch in which the event loop had no turn, and of all stretches.
 * Process CPU time includes the engine's helper threads, and wall time includes other processes; the CPU time of the
 * thread is below both.
 */
async function slicesOf(work: () => Promise<unknown>): Promise<Slices> {
  const slices: number[] = [];
  let done = false;
  let from = process.cpuUsage();
  let since = performance.now();
  const tick = (): void => {
    const { user, system } = process.cpuUsage(from);
    slices.push(Math.min((user + system) / 1000, performance.now() - since));
    from = process.cpuUsage();
    since = performance.now();
    if (!done) setImmediate(tick);
  };
  const ticking = new Promise<void>((resolve) => setImmediate(() => resolve(tick())));
  await ticking;
  slices.length = 0;
  await work();
  done = true;
  await new Promise((resolve) => setImmediate(resolve));
  slices.sort((a, b) => a - b);
  return { longest: slices.at(-1) ?? 0, p99: slices[Math.floor(slices.length * 0.99)] ?? 0, count: slices.length };
}

/**
 * Returns how many times slower this machine is now than the one on which the limits were set; at least 1. Code that
 * cannot be interrupted takes that much longer.
 */
function slowness(): number {
  const bytes = new Uint8Array(2 ** 22);
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 8; run++) {
    const before = process.cpuUsage();
    const words = new Map<number, number>();
    for (let i = 0; i < 100_000; i++) words.set(Math.imul(i, 0x9e3779b1), i);
    for (let i = 0; i < 4; i++) bytes.slice().fill(words.size);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return Math.max(1, least / REFERENCE_MS);
}

/** Milliseconds of the best run on the machine on which the limits were set. */
const REFERENCE_MS = 12;

/** Garbage is collected before each attempt, so that earlier garbage does not count for the operation. */
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Expects the event loop to stay responsive while `work` runs. `prepare` runs before each attempt. */
export async function expectTurns(
  work: () => Promise<unknown>,
  prepare: () => Promise<void> = async () => {},
): Promise<void> {
  // With few slices, the 99th percentile is the longest.
  const excess = ({ longest, p99, count, slow }: Tried): number =>
    Math.max(longest / 50, count > 100 ? p99 / 20 : 0) / slow;
  // Compilation and garbage collection use CPU too, so the best of several runs counts.
  let best: Tried | undefined;
  for (let i = 0; i < 30 && (best === undefined || excess(best) >= 1); i++) {
    await prepare();
    collectGarbage();
    const slow = slowness();
    const slices = await slicesOf(work);
    const tried = { ...slices, slow: Math.max(slow, slowness()) };
    if (best === undefined || excess(tried) < excess(best)) best = tried;
  }
  expect(excess(best as Tried), JSON.stringify(best)).toBeLessThan(1);
}
