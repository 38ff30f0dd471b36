import type { Backend } from './backend.js';
import { type AsyncStorageOptions, BackendStorage } from './backend-storage.js';
import { executorOf } from './engine/executor-of.js';
import { MemoryExecutor } from './engine/memory/memory-executor.js';
import { TreeBackend } from './engine/tree-backend/tree-backend.js';
import type { AsyncStorage, SyncStorage } from './storage.js';

/**
 * Returns the storage over a backend, for `createFileSystem({ storage })`. Closing the storage closes the backend. An
 * adapter whose storage has methods of its own extends {@link BackendStorage} instead.
 * @throws TypeError, RangeError for an invalid backend or invalid options
 */
export function asyncStorage(backend: Backend, options?: AsyncStorageOptions): AsyncStorage {
  return new BackendStorage(backend, options);
}

/** The backend of a storage in memory. */
export type MemoryBackend = Backend & Required<Pick<Backend, 'checkpointStore' | 'fork'>>;

/** Returns a backend over a storage in memory, for the remote engine. */
export function backendOf(storage: SyncStorage): MemoryBackend {
  const executor = executorOf(storage);
  if (!(executor instanceof MemoryExecutor)) throw new TypeError('Only a storage in memory has a backend');
  return new TreeBackend(executor);
}

/** Returns the asynchronous form of a storage in memory: the same state, through the remote engine. */
export function asyncForm(storage: SyncStorage, options?: AsyncStorageOptions): AsyncStorage {
  return asyncStorage(backendOf(storage), options);
}
