import type { FileSystem } from '@scratchfs/core';

/** An open storage. */
export interface Store {
  readonly fileSystem: FileSystem;
  /** True for a snapshot file, which cannot hold checkpoints and is written by `save` only. */
  readonly isSnapshot: boolean;
  /** Writes the changes to a snapshot file. Does nothing on other storages. */
  save(): Promise<void>;
  close(): Promise<void>;
}

/** The files that a command of `fs`, `import` or `export` works on: those of a storage, or of an attempt. */
export interface Target {
  readonly fileSystem: FileSystem;
  /** Returns the absolute path that an argument names. */
  path(argument: string): string;
  /**
   * Runs work that changes files, and saves the result. On an attempt it is at most one operation, on a storage with
   * transactions one transaction.
   */
  change<T>(summary: string, work: (fileSystem: FileSystem) => Promise<T>): Promise<T>;
}
