import {
  type AsyncStorage,
  type AsyncStorageOptions,
  asyncForm,
  backendOf,
  type MemoryBackend,
  MemoryStorage,
  type MemoryStorageOptions,
} from '@scratchfs/core';

export interface AsyncMemoryStorageOptions extends MemoryStorageOptions, AsyncStorageOptions {}

/** Returns a memory storage that behaves like a remote one: promises only, through the remote engine. */
export function asyncMemoryStorage(options: AsyncMemoryStorageOptions = {}): AsyncStorage {
  return asyncForm(new MemoryStorage({ clock: options.clock }), options);
}

/** Returns a backend over a new memory storage, to be wrapped or passed to `asyncStorage`. */
export function memoryBackend(options?: MemoryStorageOptions): MemoryBackend {
  return backendOf(new MemoryStorage(options));
}
