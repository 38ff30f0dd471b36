import type { BackendCall } from '../backend.js';

/** A head as it is stored. */
export interface StoredHead {
  /** Changes with every write of the head. */
  readonly tag: string;
  readonly bytes: Uint8Array;
}

/**
 * A key-value store under an object tree: immutable objects under names that are never reused (except `turn`, which is
 * put repeatedly and may be read stale), and one small object, the head, replaced by compare-and-swap. Objects are
 * readable immediately after the put. A failure is a `StorageError`. If `swapHead` fails, only the error's
 * `mayHaveHappened` says whether the head may have been replaced: it is true by default for `unavailable` and
 * `timeout`, so a store that has refused the request sets it to false. `retryable` only says whether sending the
 * request again is useful.
 */
export interface ObjectStore {
  /**
   * Reads `length` bytes from `offset` on, fewer if the object ends before; undefined if there is no such object. The caller keeps the
   * bytes: they must never change afterwards, so a store must not reuse their buffer.
   */
  get(name: string, offset: number, length: number, call?: BackendCall): Promise<Uint8Array | undefined>;
  put(name: string, bytes: Uint8Array, call?: BackendCall): Promise<void>;
  /** Deletes objects; missing ones are ignored. */
  delete(names: readonly string[], call?: BackendCall): Promise<void>;
  /**
   * Returns names that begin with `prefix`, after `after`, in any fixed order; `after` is the last name of the previous
   * page. A page that is not the last contains names.
   */
  list(
    prefix: string,
    after: string | undefined,
    call?: BackendCall,
  ): Promise<{ readonly names: readonly string[]; readonly complete: boolean }>;
  /**
   * Reads the head. It may return `unchanged` if the head still has the known tag. Returns undefined if the head does
   * not exist.
   */
  readHead(known: string | undefined, call?: BackendCall): Promise<StoredHead | 'unchanged' | undefined>;
  /**
   * Replaces the head that has this tag (undefined: creates the first one). Returns the new tag, or undefined if
   * another head was there when the request arrived. A store that has sent the request more than once and gets only
   * the last response throws instead, with `mayHaveHappened`: the earlier request may have put that other head there.
   */
  swapHead(bytes: Uint8Array, expected: string | undefined, call?: BackendCall): Promise<string | undefined>;
  /** Deletes the head; does nothing if there is none. A store without this method cannot delete its filesystem. */
  deleteHead?(call?: BackendCall): Promise<void>;
  close?(): Promise<void>;
}
