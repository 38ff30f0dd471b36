import type { FileSystem } from '@scratchfs/core';

/** An open storage. */
export interface Store {
  readonly fileSystem: FileSystem;
  /** Makes changes lasting. Does nothing on storages that are lasting themselves. */
  save(): Promise<void>;
  close(): Promise<void>;
}
