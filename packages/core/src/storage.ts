import type { FileEntry, NewEntry } from './entry.js';
import type { CallOptions, Capabilities } from './file-system.js';
import type { FileSystemStats } from './limits.js';

/**
 * A key-value store of entries under absolute, normalized paths, in the synchronous form. `set` under a missing parent
 * and `delete` of a directory with children are refused; `clear` keeps the root. A prefix is a path and stands for the
 * entry at it and everything under it.
 * @throws FsError such as ENOENT, ENOTDIR, ENOTEMPTY, EEXIST, EINVAL, EBUSY for the root, ENOSPC, EFBIG
 */
export interface SyncStorage {
  readonly kind: 'sync';
  readonly capabilities: Capabilities;
  /** Returns the entry, or undefined. Links are not followed. */
  get(path: string): FileEntry | undefined;
  /** Creates or replaces one entry. An existing directory keeps its children. The kind cannot change: EEXIST. */
  set(entry: NewEntry): void;
  /** Removes one entry; returns true if it existed. */
  delete(path: string): boolean;
  exists(path: string): boolean;
  /**
   * Returns the paths at or under a prefix, except the root, sorted by UTF-8 bytes of the path's segments, parents
   * first.
   */
  paths(prefix?: string): string[];
  /** Returns the names in a directory, sorted by UTF-8 bytes. */
  children(path: string): string[];
  clear(): void;
  /** Returns every entry except the root, parents first. */
  entries(): Iterable<FileEntry>;
  /** Stores all entries or none. They may come in any order; the same path twice is refused with EINVAL. */
  setMany(entries: Iterable<NewEntry>): void;
  stats(): FileSystemStats;
  close(): void;
}

/** The asynchronous form of a storage. Its methods have the same rules as those of {@link SyncStorage}. */
export interface AsyncStorage extends AsyncDisposable {
  readonly kind: 'async';
  readonly capabilities: Capabilities;
  get(path: string, options?: CallOptions): Promise<FileEntry | undefined>;
  set(entry: NewEntry, options?: CallOptions): Promise<void>;
  delete(path: string, options?: CallOptions): Promise<boolean>;
  exists(path: string, options?: CallOptions): Promise<boolean>;
  paths(prefix?: string, options?: CallOptions): Promise<string[]>;
  children(path: string, options?: CallOptions): Promise<string[]>;
  clear(options?: CallOptions): Promise<void>;
  entries(options?: CallOptions): AsyncIterable<FileEntry>;
  setMany(entries: Iterable<NewEntry>, options?: CallOptions): Promise<void>;
  stats(options?: CallOptions): Promise<FileSystemStats>;
  close(): Promise<void>;
}

export type Storage = SyncStorage | AsyncStorage;
