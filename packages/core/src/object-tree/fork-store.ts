import type { BackendCall } from '../backend.js';
import type { Head } from './head.js';
import { encodeHead } from './head-format.js';
import type { NamePage, ObjectStore, StoredHead } from './object-store.js';

/**
 * Size of a range of commit numbers. Each fork draws a range at random, so changes of different forks very probably
 * have different versions.
 */
const COMMITS_PER_LINE = 2 ** 32;
/**
 * Number of ranges for forks. With the filesystem's own range, all commit numbers are exact integers, at any nesting of
 * forks.
 */
const MAX_LINES = 2 ** 20;

/** The store of a fork: objects are in the filesystem's store, the head is in the memory of its client. */
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

  get maxObjectBytes(): number | undefined {
    return this.#store.maxObjectBytes;
  }

  get maxDeleteNames(): number | undefined {
    return this.#store.maxDeleteNames;
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
  list(prefix: string, cursor: string | undefined, call?: BackendCall): Promise<NamePage> {
    return this.#store.list(prefix, cursor, call);
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
