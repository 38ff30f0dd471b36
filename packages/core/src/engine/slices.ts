import type { Cursor } from './cursor.js';

/** How long work runs before the event loop has a turn. */
export const SLICE_MS = 8;

/** A cursor as an async iterator that never holds the event loop for long, however fast its consumer is. */
export async function* inSlices<T>(cursor: Cursor<T>, signal?: AbortSignal): AsyncGenerator<T, void, undefined> {
  let since = performance.now();
  for (let item = cursor.next(); item !== undefined; item = cursor.next()) {
    yield item;
    if (performance.now() - since > SLICE_MS) {
      await nextTurn();
      signal?.throwIfAborted();
      since = performance.now();
    }
  }
}

/** {@link inSlices} for steps that may have to wait. */
export async function* slicesOf<T>(
  next: () => Promise<T | undefined>,
  signal?: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  let since = performance.now();
  for (let item = await next(); item !== undefined; item = await next()) {
    yield item;
    if (performance.now() - since > SLICE_MS) {
      await nextTurn();
      signal?.throwIfAborted();
      since = performance.now();
    }
  }
}

export async function collectItems<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Lets other work of the event loop run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
