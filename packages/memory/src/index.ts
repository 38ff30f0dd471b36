export { type AsyncMemoryStorageOptions, asyncMemoryStorage, memoryBackend } from './async-memory-storage.js';
export { MemoryStorage, type MemoryStorageOptions } from './memory-storage.js';
