/** Returns the error to throw in place of one of a guarded filesystem. */

type Show = (error: unknown) => unknown;

export async function shownPromise<T>(promise: Promise<T>, show: Show): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw show(error);
  }
}

export function shownResult<T>(work: () => T, show: Show): T {
  try {
    return work();
  } catch (error) {
    throw show(error);
  }
}

/** Not a generator: `return` must not wait for a `next` that waits for an event. */
export function shownItems<T>(items: AsyncIterableIterator<T>, show: Show): AsyncIterableIterator<T> {
  const shown: AsyncIterableIterator<T> = {
    next: async () => shownPromise(items.next(), show),
    return: async (value?: unknown) =>
      items.return === undefined ? { done: true, value } : shownPromise(items.return(value), show),
    [Symbol.asyncIterator]: () => shown,
  };
  return shown;
}

export function* shownItemsSync<T>(items: Iterable<T>, show: Show): Generator<T, void, undefined> {
  const iterator = items[Symbol.iterator]();
  try {
    for (;;) {
      const result = shownResult(() => iterator.next(), show);
      if (result.done === true) return;
      yield result.value;
    }
  } finally {
    iterator.return?.();
  }
}
