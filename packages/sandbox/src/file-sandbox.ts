import type { CallOptions, EntryKind, FileSystem } from '@scratchfs/core';
import type { ReadOptions, ReadResult } from './read-result.js';

/** Approvals needed before a path is read or written. */
export interface Approvals {
  readonly read: boolean;
  readonly write: boolean;
}

/** Treatment of a path that may be a link. */
export interface FollowOptions {
  /** Follow a link; false means the link itself, for a removal or a rename. Default true. */
  readonly follow?: boolean | undefined;
}

/**
 * Files by the paths that a model writes, and errors that it can act on. `createFileTools` of `@scratchfs/tools` takes
 * any object of this shape, and {@link Sandbox} implements it. Throw the errors of this package or `FsError`, so that a
 * model can read them.
 */
export interface FileSandbox {
  /** Readable paths, for messages; empty means none. */
  readonly readableRoots: readonly string[];
  /** Writable paths; empty means read-only. */
  readonly writableRoots: readonly string[];

  canRead(path: string, options?: CallOptions): Promise<boolean>;
  canWrite(path: string, options?: CallOptions): Promise<boolean>;
  /** Returns the path under which a file is stored, with links followed, even if nothing exists there yet. */
  resolve(path: string, options?: FollowOptions & CallOptions): Promise<string>;

  read(path: string, options?: ReadOptions & CallOptions): Promise<ReadResult>;
  /** Creates or replaces a text file, with missing parent directories. */
  write(path: string, content: string, options?: CallOptions): Promise<void>;
  /**
   * Returns the files under a directory whose relative path matches a pattern, sorted; names with a leading dot too.
   */
  listFiles(path?: string, pattern?: string, options?: CallOptions): Promise<string[]>;
}

/** An entry of a listing. */
export interface ListedEntry {
  readonly path: string;
  readonly kind: EntryKind;
  /** Bytes of a file; 0 for a directory, the length of its target for a link. */
  readonly size: number;
}

/** A {@link FileSandbox} over a {@link FileSystem}: what tools need that do more than read, write and list files. */
export interface FileSystemSandbox extends FileSandbox {
  /** The filesystem under the same policy. Its paths are those that `resolve` returns. */
  readonly fileSystem: FileSystem;
  /** Throws the error that a read or a write would throw because of the policy. The size of a file is not checked. */
  check(path: string, access: 'read' | 'write', options?: FollowOptions & CallOptions): Promise<void>;
  /**
   * Returns files, directories and links under a directory whose relative path matches a pattern, sorted. Links are not
   * followed.
   */
  list(path?: string, pattern?: string, options?: CallOptions): Promise<ListedEntry[]>;
  /** Returns the path in `fileSystem` lexically, without checking links or access. Throws for a path outside. */
  locate(path: string): string;
  /** Returns the sandbox's spelling of a path of `fileSystem`; undefined for one outside. */
  show(path: string): string | undefined;
  /** Converts an error of `fileSystem` to one about the caller's path or paths; returns others unchanged. */
  explain(error: unknown, path: string, dest?: string): unknown;
  approvals(path: string, options?: CallOptions): Promise<Approvals>;
}
