export { FsError, isFsError, isStorageError, OutcomeUnknownError, StorageError } from '@scratchfs/core';
export type * from '@scratchfs/core';
export { MemoryStorage } from '@scratchfs/memory';
export { createFileSystem, type CreateFileSystemOptions } from './create-file-system.js';
