import type { ObjectStore, StoredHead } from '@scratchfs/core/object-tree';

/** Counts the requests to a store by method. */
export class CountingStore implements ObjectStore {
  readonly counts = { get: 0, put: 0, delete: 0, list: 0, readHead: 0, swapHead: 0 };
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  /** Runs `work` and returns the number of requests that were sent during it. */
  async costOf(work: () => Promise<unknown>): Promise<number> {
    const before = this.total;
    await work();
    return this.total - before;
  }

  get(name: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    this.counts.get += 1;
    return this.#store.get(name, offset, length);
  }
  put(name: string, bytes: Uint8Array): Promise<void> {
    this.counts.put += 1;
    return this.#store.put(name, bytes);
  }
  delete(names: readonly string[]): Promise<void> {
    this.counts.delete += 1;
    return this.#store.delete(names);
  }
  list(prefix: string, cursor: string | undefined) {
    this.counts.list += 1;
    return this.#store.list(prefix, cursor);
  }
  readHead(known: string | undefined): Promise<StoredHead | 'unchanged' | undefined> {
    this.counts.readHead += 1;
    return this.#store.readHead(known);
  }
  swapHead(bytes: Uint8Array, expected: string | undefined): Promise<string | undefined> {
    this.counts.swapHead += 1;
    return this.#store.swapHead(bytes, expected);
  }
}
