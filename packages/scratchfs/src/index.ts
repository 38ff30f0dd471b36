export type * from '@scratchfs/core';
export { FsError, isFsError, isStorageError, OutcomeUnknownError, StorageError } from '@scratchfs/core';
export { asyncMemoryStorage, MemoryStorage } from '@scratchfs/memory';
export { type CreateFileSystemOptions, createFileSystem } from './create-file-system.js';
export { openStorage } from './open-storage.js';
