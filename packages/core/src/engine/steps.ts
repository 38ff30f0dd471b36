import { nextTurn, SLICE_MS } from './slices.js';

/** Work that can be interrupted at each yield. */
export type Steps<T> = Generator<void, T>;

/** All of it in one go. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** All of it in slices that leave the event loop free. */
export async function runInSlices<T>(steps: Steps<T>, signal: AbortSignal | undefined): Promise<T> {
  let since = performance.now();
  for (;;) {
    const step = steps.next();
    const isDue = performance.now() - since >= SLICE_MS;
    if (step.done) {
      // The caller goes on in the same turn: it begins with a fresh one where this one is used up.
      if (isDue) await nextTurn();
      return step.value;
    }
    if (!isDue) continue;
    await nextTurn();
    signal?.throwIfAborted();
    since = performance.now();
  }
}
