/** The watchers that were made through a layer: they end with it. */
export class Watchers {
  readonly #open = new Set<AsyncIterableIterator<unknown>>();

  /** The same watcher, which is forgotten when it has ended. */
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

  /** Ends them all, also where one cannot be ended. */
  async end(): Promise<void> {
    const open = [...this.#open];
    this.#open.clear();
    await Promise.allSettled(open.map(async (inner) => inner.return?.()));
  }
}
