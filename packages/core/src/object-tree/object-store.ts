import type { BackendCall } from '../backend.js';

/** The head as a store has it: `tag` changes with every write of it. */
export interface StoredHead {
  readonly tag: string;
  readonly bytes: Uint8Array;
}

/**
 * What an object tree needs of a key-value store: immutable objects under names that are never used twice (but for `turn`, which is
 * put again and again, and may be read as it was before), and one small object, the head, that is replaced by compare-and-swap. What has been put can be read at once. A failure is a
 * `StorageError`. If `swapHead` fails, `mayHaveHappened` of the error alone says whether the head may have been replaced: it is true by
 * default for `unavailable` and `timeout`, so a store that has refused the request sets it to false. `retryable` says only whether
 * sending the request again is of use.
 */
export interface ObjectStore {
  /**
   * Reads `length` bytes from `offset` on, fewer if the object ends before; undefined if there is no such object. The caller keeps the
   * bytes: they must never change afterwards, so a store must not reuse their buffer.
   */
  get(name: string, offset: number, length: number, call?: BackendCall): Promise<Uint8Array | undefined>;
  put(name: string, bytes: Uint8Array, call?: BackendCall): Promise<void>;
  /** Those that are not there are no mistake. */
  delete(names: readonly string[], call?: BackendCall): Promise<void>;
  /**
   * Names that begin with `prefix`, after `after`, in any one order; `after` is the last name of the page before. A page that is not
   * the last has names.
   */
  list(
    prefix: string,
    after: string | undefined,
    call?: BackendCall,
  ): Promise<{ readonly names: readonly string[]; readonly complete: boolean }>;
  /** The head, which may be said to be `unchanged` where it still has the tag that is known; undefined where there is none. */
  readHead(known: string | undefined, call?: BackendCall): Promise<StoredHead | 'unchanged' | undefined>;
  /** Replaces the head that has this tag (undefined: makes the first one); answers its tag, undefined where another was there. */
  swapHead(bytes: Uint8Array, expected: string | undefined, call?: BackendCall): Promise<string | undefined>;
  close?(): Promise<void>;
}
