import type { CallOptions, FileSystem } from '@scratchfs/core';
import type { ReadOptions, ReadResult } from './read-result.js';

/** Whether somebody has to agree before a path is read or written. */
export interface Approvals {
  readonly read: boolean;
  readonly write: boolean;
}

/** What is meant by a path that may be a link. */
export interface FollowOptions {
  /** Where it leads to; false for the link itself, as a removal or a rename takes it. Default true. */
  readonly follow?: boolean | undefined;
}

/**
 * What tools need of a sandbox: files by the paths that a model writes, and errors that it can act on. {@link Sandbox} is
 * one; anything of this shape will do.
 */
export interface FileSandbox {
  /** The filesystem under the same policy, for everything that takes one. Its paths are those that `resolve` answers. */
  readonly fileSystem: FileSystem;
  /** What may be read, for messages; empty for nothing. */
  readonly readableRoots: readonly string[];
  readonly writableRoots: readonly string[];

  canRead(path: string, options?: CallOptions): Promise<boolean>;
  canWrite(path: string, options?: CallOptions): Promise<boolean>;
  /** Throws what a read or a write would be refused with, as far as the policy knows before: not for the size of a file. */
  check(path: string, access: 'read' | 'write', options?: FollowOptions & CallOptions): Promise<void>;
  /** The path in `fileSystem`, where links lead to; also where nothing is there yet. */
  resolve(path: string, options?: FollowOptions & CallOptions): Promise<string>;
  /** The path in `fileSystem` as it is written: links are not looked at, rights neither. */
  locate(path: string): string;
  /** How a path of `fileSystem` is written here; undefined for one outside. */
  show(path: string): string | undefined;
  /** An error of `fileSystem` as one about the paths that the caller gave, one or two; others are answered as they are. */
  explain(error: unknown, path: string, dest?: string): unknown;
  approvals(path: string, options?: CallOptions): Promise<Approvals>;

  read(path: string, options?: ReadOptions & CallOptions): Promise<ReadResult>;
  /** Creates or replaces a text file, with the directories that lead to it. */
  write(path: string, content: string, options?: CallOptions): Promise<void>;
  /** The files beneath a directory whose path from there matches a pattern, sorted; names with a leading dot too. */
  listFiles(path?: string, pattern?: string, options?: CallOptions): Promise<string[]>;
}
