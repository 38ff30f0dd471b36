import type { Backend } from './backend.js';
import { executorOf } from './engine/executor-of.js';
import { MemoryExecutor } from './engine/memory-executor.js';
import { RemoteExecutor, type RemoteOptions } from './engine/remote-executor.js';
import { TreeBackend } from './engine/tree-backend.js';
import { ExecutorAsyncStorage } from './executor-storage.js';
import type { AsyncStorage, SyncStorage } from './storage.js';

export type AsyncStorageOptions = RemoteOptions;

/**
 * Creates the storage over a backend, as an adapter gives it to its users.
 * @throws TypeError, RangeError for options of a wrong kind
 */
export function asyncStorage(backend: Backend, options?: AsyncStorageOptions): AsyncStorage {
  return new ExecutorAsyncStorage(new RemoteExecutor(backend, options), options?.clock);
}

/** The backend of a storage in memory, with the optional methods that it has. */
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
