import { type Limits, MemoryStorage, openFileSystem, type SyncFileSystem, type SyncStorage } from '@scratchfs/core';

/** Returns a storage in memory, for the tests of this package. */
export function memoryStorage({ clock }: { readonly clock: () => number }): SyncStorage {
  return new MemoryStorage({ clock });
}

/** Returns a filesystem on a storage in memory, for the tests of this package. */
export function memoryFileSystem(options: {
  readonly clock: () => number;
  readonly limits?: Limits | undefined;
}): SyncFileSystem {
  return openFileSystem(memoryStorage(options), options);
}
