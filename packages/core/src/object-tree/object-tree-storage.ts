import { BackendStorage } from '../backend-storage.js';
import type { Collected, CollectOptions } from './garbage-collector.js';
import type { ObjectStore } from './object-store.js';
import { ObjectTreeBackend } from './object-tree-backend.js';
import { type ObjectTreeOptions, parseObjectTreeOptions } from './options.js';

/** Deadline of one operation, however many requests it needs: each of those has its own deadline. */
const OPERATION_TIMEOUT_MS = 3_600_000;

/**
 * A storage over an object store. An adapter whose storage has a constructor of its own extends this class; otherwise
 * {@link objectTreeStorage} is enough. No request is sent before the first call.
 * @throws TypeError, RangeError for invalid options
 */
export class ObjectTreeStorage extends BackendStorage {
  readonly #backend: ObjectTreeBackend;

  constructor(store: ObjectStore, options?: ObjectTreeOptions) {
    const { retries, clock, random, timer } = parseObjectTreeOptions(options);
    const backend = new ObjectTreeBackend(store, options);
    super(backend, { timeoutMs: OPERATION_TIMEOUT_MS, retries, clock, random, timer });
    this.#backend = backend;
  }

  /**
   * Deletes unreachable objects: replaced contents, those of dropped checkpoints, and those of lost races. Other
   * clients may write concurrently. With `olderThanMs` garbage stays that long after a collection has found it. With
   * `forksOlderThanMs` forks that other clients made that long ago count as abandoned: their processes may have crashed
   * before they closed them.
   * @throws StorageError, such as `conflict` if other collectors are faster each time, `closed` if the storage is
   *   closed during the call; the signal's reason
   */
  collectGarbage(options?: CollectOptions): Promise<Collected> {
    return this.#backend.collectGarbage(options);
  }
}

/**
 * Returns the storage over an object store, for `createFileSystem({ storage })`: a filesystem with atomic commits,
 * checkpoints and forks, shared by any number of clients of the store. Closing the storage and its forks closes the
 * store.
 * @throws TypeError, RangeError for invalid options
 */
export function objectTreeStorage(store: ObjectStore, options?: ObjectTreeOptions): ObjectTreeStorage {
  return new ObjectTreeStorage(store, options);
}
