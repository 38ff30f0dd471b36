export { MemoryStorage, type MemoryStorageOptions } from '@scratchfs/core';
export { type AsyncMemoryStorageOptions, asyncMemoryStorage, memoryBackend } from './async-memory-storage.js';
