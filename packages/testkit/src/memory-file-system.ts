import {
  ExecutorSyncStorage,
  type Limits,
  MemoryExecutor,
  openFileSystem,
  rootMeta,
  type SyncFileSystem,
  type SyncStorage,
} from '@scratchfs/core';

/** The storage in memory as core makes it, for the tests of this package, which cannot import `@scratchfs/memory`. */
export function memoryStorage({ clock }: { readonly clock: () => number }): SyncStorage {
  return new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(clock())), clock);
}

/** A filesystem on it. */
export function memoryFileSystem(options: {
  readonly clock: () => number;
  readonly limits?: Limits | undefined;
}): SyncFileSystem {
  return openFileSystem(memoryStorage(options), options);
}
