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

/** All items of a cursor, in slices. */
export async function collectInSlices<T>(cursor: Cursor<T>, signal?: AbortSignal): Promise<T[]> {
  const items: T[] = [];
  let since = performance.now();
  for (let item = cursor.next(); item !== undefined; item = cursor.next()) {
    items.push(item);
    if (performance.now() - since > SLICE_MS) {
      await nextTurn();
      signal?.throwIfAborted();
      since = performance.now();
    }
  }
  return items;
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

/** Lets other work of the event loop run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
