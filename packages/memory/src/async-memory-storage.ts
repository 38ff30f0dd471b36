import { type AsyncStorage, type AsyncStorageOptions, asyncForm, backendOf, type MemoryBackend } from '@scratchfs/core';
import { MemoryStorage, type MemoryStorageOptions } from './memory-storage.js';

export interface AsyncMemoryStorageOptions extends MemoryStorageOptions, AsyncStorageOptions {}

/** A storage in memory that behaves like one far away: only promises, everything through the async engine. */
export function asyncMemoryStorage(options: AsyncMemoryStorageOptions = {}): AsyncStorage {
  return asyncForm(new MemoryStorage({ clock: options.clock }), options);
}

/** The seam over a new storage in memory, to be wrapped or put behind `asyncStorage`. */
export function memoryBackend(options?: MemoryStorageOptions): MemoryBackend {
  return backendOf(new MemoryStorage(options));
}
