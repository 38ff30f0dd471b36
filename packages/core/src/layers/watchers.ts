/** The watchers made through a layer, which end with it. */
export class Watchers {
  readonly #open = new Set<AsyncIterableIterator<unknown>>();

  /** Wraps a watcher, which is removed when it has ended. */
  add<T>(inner: AsyncIterableIterator<T>): AsyncIterableIterator<T> {
    this.#open.add(inner);
    const watcher: AsyncIterableIterator<T> = {
      next: async () => {
        let isDone: boolean | undefined = true;
        try {
          const result = await inner.next();
          isDone = result.done;
          return result;
        } finally {
          if (isDone === true) this.#open.delete(inner);
        }
      },
      return: async (value?: unknown) => {
        this.#open.delete(inner);
        return (await inner.return?.(value)) ?? { done: true, value };
      },
      [Symbol.asyncIterator]: () => watcher,
    };
    return watcher;
  }

  /** Ends all watchers, even if one fails to end. */
  async end(): Promise<void> {
    const open = [...this.#open];
    this.#open.clear();
    await Promise.allSettled(open.map(async (inner) => inner.return?.()));
  }
}
