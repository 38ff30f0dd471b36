import type { ObjectStore, StoredHead } from '@scratchfs/core/object-tree';

/** A store with latency: half of it before a request arrives, half before its response. */
export class SlowStore implements ObjectStore {
  /** Consecutive lost races for the head: now, and at most. */
  lost = 0;
  mostLost = 0;
  readonly maxObjectBytes: number | undefined;
  readonly maxDeleteNames: number | undefined;
  readonly #store: ObjectStore;
  readonly #ms: () => number;

  constructor(store: ObjectStore, ms: () => number) {
    this.maxObjectBytes = store.maxObjectBytes;
    this.maxDeleteNames = store.maxDeleteNames;
    this.#store = store;
    this.#ms = ms;
  }

  get(name: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    return this.#far(() => this.#store.get(name, offset, length));
  }
  put(name: string, bytes: Uint8Array): Promise<void> {
    return this.#far(() => this.#store.put(name, bytes));
  }
  delete(names: readonly string[]): Promise<void> {
    return this.#far(() => this.#store.delete(names));
  }
  list(prefix: string, cursor: string | undefined) {
    return this.#far(() => this.#store.list(prefix, cursor));
  }
  readHead(known: string | undefined): Promise<StoredHead | 'unchanged' | undefined> {
    return this.#far(() => this.#store.readHead(known));
  }

  async swapHead(bytes: Uint8Array, expected: string | undefined): Promise<string | undefined> {
    const tag = await this.#far(() => this.#store.swapHead(bytes, expected));
    this.lost = tag === undefined ? this.lost + 1 : 0;
    this.mostLost = Math.max(this.mostLost, this.lost);
    return tag;
  }

  async #far<T>(ask: () => Promise<T>): Promise<T> {
    const half = this.#ms() / 2;
    await later(half);
    const answer = await ask();
    await later(half);
    return answer;
  }
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
