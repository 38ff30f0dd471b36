import type { CallOptions, FileSystem } from '@scratchfs/core';
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
 * The part of a sandbox that tools need: files by the paths that a model writes, and errors that it can act on. {@link
 * Sandbox} implements it; any object of this shape works.
 */
export interface FileSandbox {
  /** The filesystem under the same policy. Its paths are those that `resolve` returns. */
  readonly fileSystem: FileSystem;
  /** Readable paths, for messages; empty means none. */
  readonly readableRoots: readonly string[];
  readonly writableRoots: readonly string[];

  canRead(path: string, options?: CallOptions): Promise<boolean>;
  canWrite(path: string, options?: CallOptions): Promise<boolean>;
  /** Throws the error of a read or a write as far as the policy knows it in advance: not the size of a file. */
  check(path: string, access: 'read' | 'write', options?: FollowOptions & CallOptions): Promise<void>;
  /** Returns the path in `fileSystem`, links followed; also if nothing exists there yet. */
  resolve(path: string, options?: FollowOptions & CallOptions): Promise<string>;
  /** Returns the path in `fileSystem` lexically, without checking links or access. */
  locate(path: string): string;
  /** Returns the sandbox's spelling of a path of `fileSystem`; undefined for one outside. */
  show(path: string): string | undefined;
  /** Converts an error of `fileSystem` to one about the caller's path or paths; returns others unchanged. */
  explain(error: unknown, path: string, dest?: string): unknown;
  approvals(path: string, options?: CallOptions): Promise<Approvals>;

  read(path: string, options?: ReadOptions & CallOptions): Promise<ReadResult>;
  /** Creates or replaces a text file, with missing parent directories. */
  write(path: string, content: string, options?: CallOptions): Promise<void>;
  /**
   * Returns the files under a directory whose relative path matches a pattern, sorted; names with a leading dot too.
   */
  listFiles(path?: string, pattern?: string, options?: CallOptions): Promise<string[]>;
}
