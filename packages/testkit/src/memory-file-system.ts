import {
  ExecutorSyncStorage,
  type Limits,
  MemoryExecutor,
  openFileSystem,
  rootMeta,
  type SyncFileSystem,
  type SyncStorage,
} from '@scratchfs/core';

/** Returns core's memory storage, for the tests of this package, which cannot import `@scratchfs/memory`. */
export function memoryStorage({ clock }: { readonly clock: () => number }): SyncStorage {
  return new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(clock())), clock);
}

/** Returns a filesystem on it. */
export function memoryFileSystem(options: {
  readonly clock: () => number;
  readonly limits?: Limits | undefined;
}): SyncFileSystem {
  return openFileSystem(memoryStorage(options), options);
}
