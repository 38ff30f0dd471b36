import type { FileSystem } from '@scratchfs/core';

/** An open storage. */
export interface Store {
  readonly fileSystem: FileSystem;
  /** False if checkpoints are lost when it is closed, as in a snapshot file. */
  readonly keepsCheckpoints: boolean;
  /** Makes changes lasting. Does nothing on storages that are lasting themselves. */
  save(): Promise<void>;
  close(): Promise<void>;
}

/** The files that a command of `fs`, `import` or `export` works on: a storage, or the attempt of a workspace. */
export interface Target {
  readonly fileSystem: FileSystem;
  /** Returns the absolute path that an argument names. */
  path(argument: string): string;
  /** Runs work that changes files. On an attempt it is one operation; elsewhere one transaction, if there are any. */
  change<T>(summary: string, work: (fileSystem: FileSystem) => Promise<T>): Promise<T>;
}
