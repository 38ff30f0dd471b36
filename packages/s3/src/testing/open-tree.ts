import { asyncStorage, type FileSystem, openFileSystem } from '@scratchfs/core';
import { type ObjectStore, ObjectTreeBackend, type ObjectTreeOptions } from '@scratchfs/core/object-tree';

/** Opens a client of a store, with its own cache. */
export async function openTree(
  store: ObjectStore,
  options: ObjectTreeOptions = {},
): Promise<{ readonly fs: FileSystem; readonly backend: ObjectTreeBackend }> {
  const backend = new ObjectTreeBackend(store, options);
  return { backend, fs: await openFileSystem(asyncStorage(backend)) };
}
