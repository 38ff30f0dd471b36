import type { BackendCall } from '../backend.js';
import { rootMeta } from '../engine/defaults.js';
import { TreeReader, type Versions } from '../engine/tree-backend/tree-reader.js';
import { isStorageError, StorageError } from '../errors.js';
import { NO_LIMITS } from '../limits.js';
import { type SharedStore, Tree, type TreeState } from '../tree/tree.js';
import { FetchRounds } from './fetch-rounds.js';
import { type Fetcher, ObjectMissing } from './fetcher.js';
import type { Head, StateRecord } from './head.js';
import { decodeHead, encodeHead } from './head-format.js';
import type { ObjectStore } from './object-store.js';
import { BytesNotLoaded } from './ref.js';
import { openState } from './state.js';
import type { StoreCalls } from './store-calls.js';
import type { Pages } from './stored-page.js';

/** A head with the tree that it leads to. */
export interface Current {
  readonly head: Head;
  readonly tag: string;
  readonly state: TreeState;
  readonly reader: TreeReader;
}

export interface HeadsOptions {
  readonly store: ObjectStore;
  readonly calls: StoreCalls;
  readonly fetcher: Fetcher;
  readonly pages: Pages;
  readonly versions: Versions;
  readonly shared: SharedStore;
  readonly hold: () => () => void;
  readonly newId: () => string;
  /** Creation time of a root that this client creates, in epoch milliseconds. */
  readonly born: number;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly create: boolean;
}

/** The head as this client knows it. */
export class Heads {
  readonly #options: HeadsOptions;
  #current: Current | undefined;
  #running: Promise<Current> | undefined;
  #next: Promise<Current> | undefined;
  #readAt = 0;
  /** Commit of the newest head known to exist. */
  #newest = 0;
  readonly #stop = new AbortController();

  constructor(options: HeadsOptions) {
    this.#options = options;
  }

  /** The newest head that this client has opened. Undefined if there is none, or if a newer one is known to exist. */
  get known(): Current | undefined {
    return this.#current !== undefined && this.#current.head.commit >= this.#newest ? this.#current : undefined;
  }

  /** Milliseconds since the head was last known to be the newest; Infinity if `known` is undefined. */
  get age(): number {
    return this.known === undefined ? Infinity : this.#options.now() - this.#readAt;
  }

  /** Returns the current head, or a later one. Calls made during a request share the next one. */
  refresh(): Promise<Current> {
    if (this.#next !== undefined) return this.#next;
    const before = this.#running;
    this.#next = (async () => {
      await before?.catch(() => {});
      this.#running = this.#next;
      this.#next = undefined;
      return this.#read();
    })();
    return this.#next;
  }

  /**
   * Takes the head of an own commit as the current one. The commit has been applied, even if its state cannot be opened
   * now.
   */
  async adopt(head: Head, tag: string, sentAt: number): Promise<void> {
    this.#newest = Math.max(this.#newest, head.commit);
    await this.#set(head, tag, sentAt, 0).catch(() => {});
  }

  /** Opens a stored state, and loads what that needs. */
  async open(record: StateRecord): Promise<TreeState> {
    const { pages, versions, fetcher, hold } = this.#options;
    const rounds = new FetchRounds();
    const release = hold();
    try {
      for (;;) {
        try {
          return openState(record, pages, versions);
        } catch (error) {
          if (!(error instanceof BytesNotLoaded)) throw error;
          rounds.next(error.refs);
          await fetcher.fetch(error.refs, this.#stop.signal);
        }
      }
    } finally {
      release();
    }
  }

  /**
   * Checks that no other filesystem has replaced the known one. A missing head is not an error, and a client that has
   * read none accepts any.
   * @throws StorageError, `lost` if another filesystem has replaced it
   */
  async checkIdentity(call: BackendCall): Promise<void> {
    const known = this.#current;
    if (known === undefined) return;
    const found = await this.#options.store.readHead(known.tag, call);
    if (found === undefined || found === 'unchanged') return;
    if (decodeHead(found.bytes).filesystem !== known.head.filesystem) throw replacedError();
  }

  async close(): Promise<void> {
    this.#stop.abort(new StorageError('closed', 'The storage is closed'));
    await Promise.allSettled([this.#running, this.#next]);
  }

  async #read(): Promise<Current> {
    const { store, calls, now } = this.#options;
    // Tag of the last head with a missing object.
    let incomplete: string | undefined;
    for (let attempt = 0; ; attempt++) {
      const known = this.#current;
      const readAt = now();
      const found = await calls.retrying(this.#stop.signal, (call) => store.readHead(known?.tag, call));
      if (found === 'unchanged') {
        if (known === undefined) throw new StorageError('corrupt', 'The store says that an unknown head is unchanged');
        // Another call may have read a newer one concurrently.
        if (this.#current !== known) return this.#current as Current;
        this.#readAt = readAt;
        return known;
      }
      if (found === undefined) {
        if (known !== undefined) throw vanishedError('its head is missing');
        if (attempt >= 3)
          throw new StorageError('unavailable', 'The head of the filesystem could not be created three times in a row');
        await this.#create();
        continue;
      }
      try {
        return await this.#set(decodeHead(found.bytes), found.tag, readAt, known?.head.commit ?? 0);
      } catch (error) {
        if (!(error instanceof ObjectMissing)) {
          // The bytes may have been damaged in transit.
          if (isStorageError(error, 'corrupt') && attempt < 3) continue;
          throw error;
        }
        // The object was collected between the two requests, so a newer head must exist.
        if (found.tag === incomplete) throw vanishedError(`${error.object} is missing`);
        incomplete = found.tag;
        attempt = 0;
      }
    }
  }

  /**
   * Opens a head and makes it the current one. `least`: the commit of the newest head known at the time of the request.
   */
  async #set(head: Head, tag: string, readAt: number, least: number): Promise<Current> {
    const known = this.#current;
    if (known !== undefined && head.filesystem !== known.head.filesystem) throw replacedError();
    if (known !== undefined && head.commit < known.head.commit) {
      // The response is late, or an older head was restored in the store.
      if (head.commit >= least) return known;
      throw vanishedError('its head is older than one that was read before');
    }
    const { shared, versions } = this.#options;
    const state = await this.open(head.state);
    const reader = new TreeReader(new Tree(shared, state), versions);
    if (this.#current !== undefined && this.#current.head.commit > head.commit) return this.#current;
    this.#readAt = readAt;
    this.#current = { head, tag, state, reader };
    return this.#current;
  }

  async #create(): Promise<void> {
    const { store, calls, create, born, newId } = this.#options;
    if (!create) throw new StorageError('lost', 'No filesystem exists here, and `create` is false');
    const state: StateRecord = {
      id: 1,
      meta: rootMeta(born),
      version: 1,
      listing: 1,
      tree: 1,
      size: 0,
      files: 0,
      directories: 0,
      linked: 0,
      height: 0,
      reach: 0,
      count: 0,
      levels: 0,
      page: null,
      inodes: null,
      linkedSize: 0,
      inodesVersion: 1,
    };
    const head: Head = {
      filesystem: newId(),
      nonce: newId(),
      epoch: 1,
      commit: 1,
      state,
      kept: [],
      forks: [],
      clients: [],
      limits: NO_LIMITS,
      gathered: { small: 1, large: 1 },
    };
    // If another client was faster, its head is read next.
    await calls.retrying(this.#stop.signal, (call) => store.swapHead(encodeHead(head), undefined, call));
  }
}

function replacedError(): StorageError {
  return vanishedError('another one was created in its place');
}

export function vanishedError(how: string): StorageError {
  return new StorageError('lost', `The stored filesystem was removed or replaced: ${how}`);
}
