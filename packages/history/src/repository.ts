import type { ObjectFormat, ObjectId } from './object-id.js';
import type { GitObject } from './objects/git-object.js';

/** Options of a call that can be aborted. */
export interface RepositoryCall {
  readonly signal?: AbortSignal | undefined;
}

/** An object with the id of its bytes. */
export interface NamedObject extends GitObject {
  readonly id: ObjectId;
}

/** An object in the list of a store. */
export interface StoredObject {
  readonly id: ObjectId;
  /** Bytes that the object takes in the store. */
  readonly bytes: number;
  /** Time at which the object was last written, in epoch milliseconds of the store's clock. */
  readonly writtenAt: number;
}

/**
 * Git objects by the hash of their bytes. An implementation stores and finds bytes. The reader checks the hash, so
 * wrong bytes from a store are never accepted.
 */
export interface GitObjectStore {
  readonly format: ObjectFormat;
  /** Returns the object, or undefined if it does not exist. */
  read(id: ObjectId, call?: RepositoryCall): Promise<GitObject | undefined>;
  has(id: ObjectId, call?: RepositoryCall): Promise<boolean>;
  /** Stores objects; existing ones stay. Afterwards all of them can be read. */
  write(objects: readonly NamedObject[], call?: RepositoryCall): Promise<void>;
  /**
   * Returns the commits whose parents are not stored, as listed in git's file `shallow`. Called for each commit that is
   * followed, so the result should be kept. Default: none.
   */
  shallow?(call?: RepositoryCall): Promise<ReadonlySet<ObjectId>>;
  /**
   * Yields the objects whose ids begin with a prefix in lower case, all of them for an empty one. An object may appear
   * twice. Without this method, versions have no shortened ids.
   */
  list?(prefix: string, call?: RepositoryCall): AsyncIterable<StoredObject>;
}

/** Value of a reference: the id of an object, or the name of another reference for a symbolic one such as `HEAD`. */
export type RefValue = { readonly id: ObjectId } | { readonly ref: string };

/** Options of a move of a reference. */
export interface SwapRefCall extends RepositoryCall {
  /** Refuse unless the repository's `pruneCount` is this, checked atomically with the move. Default: any. */
  readonly pruneCount?: number | undefined;
}

/** Options of {@link Repository.prune}. */
export interface PruneCall extends RepositoryCall {
  /** Time in epoch milliseconds; an object that was written at that time or later stays. */
  readonly before: number;
  /** Delete nothing, only count. */
  readonly dryRun: boolean;
}

/** Counts of deleted objects; with `dryRun`, of those that would be deleted. */
export interface Pruned {
  readonly objects: number;
  /** Bytes that they took in the store. */
  readonly bytes: number;
}

/** Names of objects, each moved by compare-and-swap. Names are full: `HEAD`, `refs/heads/main`, `refs/tags/v1`. */
export interface RefStore {
  readRef(name: string, call?: RepositoryCall): Promise<RefValue | undefined>;
  /**
   * Sets (or with undefined removes) a reference atomically if it has the expected value (undefined: does not exist),
   * and reports whether it did.
   * @throws HistoryError `ref-conflict` if a new name would be a directory of another one, or the other way round;
   *   `ref-changed` if the reference stays locked by another client
   */
  swapRef(
    name: string,
    expected: RefValue | undefined,
    next: RefValue | undefined,
    call?: SwapRefCall,
  ): Promise<boolean>;
  /** Returns the names with the prefix, sorted. */
  listRefs(prefix: string, call?: RepositoryCall): Promise<string[]>;
}

/** Storage of a history: objects and references. */
export interface Repository extends GitObjectStore, RefStore {
  /**
   * Returns a number that `prune` increments before it deletes and again afterwards. A client that relies on stored
   * objects reads it first and passes it to `swapRef`. Default: 0, for a repository that is never pruned.
   */
  pruneCount?(call?: RepositoryCall): Promise<number>;
  /**
   * Deletes the objects that `select` returns, in this order: increment `pruneCount`, list all objects, call `select`,
   * delete, increment again. An object that was written again since the list stays. With `dryRun`, only lists and calls
   * `select`.
   * @throws HistoryError `unsupported`
   */
  prune?(select: (listed: readonly StoredObject[]) => Promise<ReadonlySet<ObjectId>>, call: PruneCall): Promise<Pruned>;
}
