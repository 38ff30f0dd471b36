import type { BackendCall } from '../backend.js';

/** A head as it is stored. */
export interface StoredHead {
  /** Identifies this write of the head; see {@link ObjectStore.swapHead}. */
  readonly tag: string;
  /** They must never change afterwards, like those of {@link ObjectStore.get}. */
  readonly bytes: Uint8Array;
}

/** A page of a listing. */
export interface NamePage {
  readonly names: readonly string[];
  /** Position at which the next page begins; undefined if this page is the last. */
  readonly cursor: string | undefined;
}

/** An object to be stored. */
export interface StoredObject {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * A key-value store under an object tree: immutable objects, and one small object, the head, that is replaced by
 * compare-and-swap. {@link objectTreeStorage} makes a storage of it. `objectStoreSuite` of `@scratchfs/testkit` tests
 * it, and `MemoryObjectStore` there is one in memory.
 *
 * **Names** have at most 200 characters of `a-z`, `0-9`, `-`, `.` and `/`. An object is put once: a name never gets
 * other bytes, not even after its deletion, and a request that is sent again carries the same bytes. The one exception
 * is the object `turn`, which is put repeatedly and may be read stale. All other names begin with `objects/`, `forks/`
 * or `trash/`. The head has no name. The store chooses its place: a table of its own, or a name beside the objects such
 * as `head`, which it leaves out of listings.
 *
 * **Sizes**: most objects have some kilobytes; no object is larger than `maxObjectBytes`. A head has some kilobytes,
 * and 0.5 KB more for each checkpoint and fork: some 100 KB with 200 checkpoints. The caller checks both sizes, so a
 * store need not: a commit whose head would be larger fails with a `StorageError` of kind `full` and changes nothing.
 *
 * **Consistency**: once `put` has resolved, every client reads the object; once `swapHead` has resolved, every
 * `readHead` that begins later returns that head or a later one. Objects whose deletion has begun may still be read.
 *
 * **Failures** are {@link StorageError}s. Their fields decide what happens next, whatever the text says:
 *
 * - `retryable`: the same request may be sent again, after a pause. Default: true for `unavailable` and `timeout`. Leave
 *   it true for a `swapHead` that may have happened: the head is read before anything is sent again.
 * - `mayHaveHappened`: the request may have taken effect, or may take effect later. It matters for `swapHead`, `commit`
 *   and deletions; the other requests are harmless when they arrive late or twice. Default: true for `unavailable` and
 *   `timeout`. A store that has refused the request, or has not sent it, sets it to false.
 * - `kind`: `full` if there is no space left, `denied` if credentials or permissions are missing, `unavailable` if the
 *   store was not reached or did not respond, `lost` if the stored filesystem is gone, `corrupt` if its bytes are
 *   damaged, `unsupported` if the store cannot work this way at all.
 *
 * Any other error is a mistake of the adapter. The request is not sent again, and the error reaches the caller as the
 * cause of an `unavailable`. Because it says nothing about the outcome, it counts as `mayHaveHappened`. A result of the
 * wrong form, such as `null` for `undefined`, is an `unsupported` that names the method.
 *
 * **`call.signal`** aborts when the request has taken longer than `timeoutMs`, and for some requests when the caller has
 * given up or the storage is closed. The request is not awaited any more, so a store may ignore the signal; one that can
 * stop the request saves work. What it throws then is ignored.
 */
export interface ObjectStore {
  /**
   * Greatest size in bytes of an object and of the head, from 65,536 on: 2,000,000 for the rows of a Durable Object,
   * for example. What is larger is stored in parts of this size, each an object of its own. The size is a part of their
   * names, so it may be changed later. Default 8 MiB.
   */
  readonly maxObjectBytes?: number | undefined;
  /** Greatest number of names of one `delete`, from 1 to 1,000, so that it ends before `timeoutMs`. Default 1,000. */
  readonly maxDeleteNames?: number | undefined;
  /**
   * Reads `length` bytes from `offset` on: fewer if the object ends before, none if `offset` is at or past its end.
   * It must not return more. Returns undefined if there is no such object. A range of HTTP cannot have the length 0: a
   * store with such ranges returns no bytes then, whether there is an object or not.
   *
   * The caller keeps the bytes without copying them, so they must never change afterwards: a store must not reuse their
   * buffer. They may be a view on a larger buffer, which then stays in memory as long as they do.
   */
  get(name: string, offset: number, length: number, call?: BackendCall): Promise<Uint8Array | undefined>;
  /**
   * Stores an object. The caller does not change the bytes before the promise has settled, but may do so afterwards: a
   * store in memory copies them. A failed put leaves the complete object or nothing, never a part.
   */
  put(name: string, bytes: Uint8Array, call?: BackendCall): Promise<void>;
  /**
   * Deletes objects, 1 to `maxDeleteNames` at a time, in no particular order; missing ones are ignored. If it fails,
   * any of them may be deleted.
   */
  delete(names: readonly string[], call?: BackendCall): Promise<void>;
  /**
   * Lists names that begin with `prefix`, in any order; all names if it is empty. `cursor` is that of the previous
   * page, or undefined for the first page. The caller does not interpret it, and may send it again. Other clients put
   * and delete objects during a listing: it contains every object that exists from its beginning to its end at least
   * once; those put or deleted during it may be missing.
   *
   * A page may contain any number of names, even none if more pages follow. A thousand pages in a row without a new
   * name end the listing with an error.
   */
  list(prefix: string, cursor: string | undefined, call?: BackendCall): Promise<NamePage>;
  /**
   * Reads the head; undefined if there is none. Tag and bytes belong to one head: a store that reads them by two
   * requests reads the bytes of exactly that tag, or both again. If it still has the tag `known`, a store may return
   * `unchanged`, which saves the transfer.
   */
  readHead(known: string | undefined, call?: BackendCall): Promise<StoredHead | 'unchanged' | undefined>;
  /**
   * Replaces the head that has the tag `expected`; if that is undefined, creates the first head. Comparing and
   * replacing is one atomic step for all clients: of several swaps with the same `expected`, one wins. Returns the tag
   * of the new head, or undefined if another head was there, or none, when the request arrived. The tag is that of the
   * response to this request: a later read may find the head of another client, which would be taken for this one.
   *
   * A tag never returns: no two heads of one place have the same tag, even if a head was deleted in between. No two
   * heads have the same bytes, so a tag may be a hash of the bytes (an ETag of S3, for example). It may also be a
   * number that is counted up, never starts again and cannot be rolled back.
   *
   * If it fails, only `mayHaveHappened` of the error says whether the head may have been replaced, or may still be by a
   * request on its way. The caller reads the head then, which names the last commits of clients. A store that has
   * sent the request more than once and gets only the last response throws, with `mayHaveHappened`, instead of
   * returning undefined: the earlier request may have put that other head there. So switch off the retries of a client
   * library that does not say how often it has sent a request.
   */
  swapHead(bytes: Uint8Array, expected: string | undefined, call?: BackendCall): Promise<string | undefined>;
  /**
   * Puts objects and swaps the head in one atomic step: a store with transactions saves a request for each small write.
   * Returns the tag of its own response as `swapHead` does, and fails as it does; if another head was there, none of
   * the objects has to be stored. It gets 1 to 16 objects with up to 1 MiB in total. For other commits, and in a store
   * without this method, the objects are put first and the head is swapped then.
   */
  commit?(
    objects: readonly StoredObject[],
    head: Uint8Array,
    expected: string,
    call?: BackendCall,
  ): Promise<string | undefined>;
  /**
   * Calls `changed` soon after any client has replaced the head, this one included, and possibly more often: the head
   * is read then. Calls `fail` once if it can no longer report changes. The returned function ends the reports of
   * this call, not those of another call with the same functions. With this method, watchers also get the changes of
   * other clients, as the event `overflow`; without it, only those of their own client.
   */
  watch?(changed: () => void, fail: (error: unknown) => void): () => void;
  /**
   * Deletes the head, whatever its tag; does nothing if there is none. A caller that has read the head before checks
   * immediately before the call that it still belongs to the same filesystem. A store without this method cannot delete
   * its filesystem.
   */
  deleteHead?(call?: BackendCall): Promise<void>;
  /**
   * Releases what the store holds: connections, locks, timers. Called once, after the storage and all its forks have
   * been closed; requests that were given up may still be under way, and none follows.
   */
  close?(): Promise<void>;
}
