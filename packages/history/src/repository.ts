import type { ObjectFormat, ObjectId } from './object-id.js';
import type { GitObject } from './objects/git-object.js';

/** A call that can be given up. */
export interface RepositoryCall {
  readonly signal?: AbortSignal | undefined;
}

/** An object with the id that its bytes hash to. */
export interface NamedObject extends GitObject {
  readonly id: ObjectId;
}

/**
 * Objects by the hash of their bytes. An implementation stores and finds bytes; whoever reads checks the hash, so that
 * what a store hands back wrong is never believed.
 */
export interface GitObjectStore {
  readonly format: ObjectFormat;
  /** The object, or undefined where there is none. */
  read(id: ObjectId, call?: RepositoryCall): Promise<GitObject | undefined>;
  has(id: ObjectId, call?: RepositoryCall): Promise<boolean>;
  /** Stores objects; those that are there already stay. Afterwards all of them can be read. */
  write(objects: readonly NamedObject[], call?: RepositoryCall): Promise<void>;
  /** Commits whose parents are not kept, as git's file `shallow` lists them; it is read once. Default: none. */
  shallow?(call?: RepositoryCall): Promise<ReadonlySet<ObjectId>>;
}

/** What a reference says: the id of an object, or for a symbolic one such as `HEAD` the name of another. */
export type RefValue = { readonly id: ObjectId } | { readonly ref: string };

/** Names for objects, each moved by compare-and-swap. Names are full: `HEAD`, `refs/heads/main`, `refs/tags/v1`. */
export interface RefStore {
  readRef(name: string, call?: RepositoryCall): Promise<RefValue | undefined>;
  /**
   * Sets (or with undefined removes) a reference if it says what is expected (undefined: does not exist); answers whether
   * it did. One atomic step.
   * @throws HistoryError `ref-conflict` where a new name begins with another one and a `/`, or another with it
   */
  swapRef(
    name: string,
    expected: RefValue | undefined,
    next: RefValue | undefined,
    call?: RepositoryCall,
  ): Promise<boolean>;
  /** All names that begin with the prefix, sorted. */
  listRefs(prefix: string, call?: RepositoryCall): Promise<string[]>;
}

/** Where a history lives: its objects and its references. */
export interface Repository extends GitObjectStore, RefStore {}
