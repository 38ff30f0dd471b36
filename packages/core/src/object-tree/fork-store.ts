import type { BackendCall } from '../backend.js';
import type { Head } from './head.js';
import { encodeHead } from './head-format.js';
import type { ObjectStore, StoredHead } from './object-store.js';

/**
 * Commit numbers of a fork are disjoint from those of all other lines of commits: their changes must not look the same.
 */
const COMMITS_PER_LINE = 2 ** 32;
/** Number of lines to choose from, besides the filesystem's own. Numbers stay exact at any nesting of forks. */
const MAX_LINES = 2 ** 20;

/** The store of a fork: its objects lie beside all others, its head in the memory of its client. */
export class ForkStore implements ObjectStore {
  readonly #store: ObjectStore;
  #head: StoredHead;
  #heads = 0;

  constructor(store: ObjectStore, base: Head, random: (below: number) => number) {
    this.#store = store;
    const before = Math.floor(base.commit / COMMITS_PER_LINE);
    const drawn = 1 + random(MAX_LINES - 1);
    const line = drawn < before ? drawn : drawn + 1;
    const commit = (base.commit % COMMITS_PER_LINE) + COMMITS_PER_LINE * line;
    this.#head = { tag: '0', bytes: encodeHead({ ...base, commit, gathered: { small: commit, large: commit } }) };
  }

  get(name: string, offset: number, length: number, call?: BackendCall): Promise<Uint8Array | undefined> {
    return this.#store.get(name, offset, length, call);
  }
  put(name: string, bytes: Uint8Array, call?: BackendCall): Promise<void> {
    return this.#store.put(name, bytes, call);
  }
  delete(names: readonly string[], call?: BackendCall): Promise<void> {
    return this.#store.delete(names, call);
  }
  list(prefix: string, after: string | undefined, call?: BackendCall) {
    return this.#store.list(prefix, after, call);
  }

  async readHead(known: string | undefined): Promise<StoredHead | 'unchanged'> {
    return known === this.#head.tag ? 'unchanged' : this.#head;
  }

  async swapHead(bytes: Uint8Array, expected: string | undefined): Promise<string | undefined> {
    if (expected !== this.#head.tag) return undefined;
    this.#heads += 1;
    this.#head = { tag: String(this.#heads), bytes };
    return this.#head.tag;
  }
}
