import type { Backend } from './backend.js';
import { executorOf } from './engine/executor-of.js';
import { MemoryExecutor } from './engine/memory-executor.js';
import { RemoteExecutor, type RemoteOptions } from './engine/remote-executor.js';
import { TreeBackend } from './engine/tree-backend.js';
import { ExecutorAsyncStorage } from './executor-storage.js';
import type { AsyncStorage, SyncStorage } from './storage.js';

export type AsyncStorageOptions = RemoteOptions;

/**
 * The storage over a backend: what an adapter gives to its users.
 * @throws TypeError, RangeError for options of a wrong kind
 */
export function asyncStorage(backend: Backend, options?: AsyncStorageOptions): AsyncStorage {
  return new ExecutorAsyncStorage(new RemoteExecutor(backend, options), options?.clock);
}

/** The seam over a storage in memory, with what is optional in it. */
export type MemoryBackend = Backend & Required<Pick<Backend, 'checkpointStore' | 'fork'>>;

/** The seam over a storage in memory: what the async engine sees of it. */
export function backendOf(storage: SyncStorage): MemoryBackend {
  const executor = executorOf(storage);
  if (!(executor instanceof MemoryExecutor)) throw new TypeError('Only a storage in memory has a backend');
  return new TreeBackend(executor);
}

/** The async form of a storage in memory: the same state, through the async engine. */
export function asyncForm(storage: SyncStorage, options?: AsyncStorageOptions): AsyncStorage {
  return asyncStorage(backendOf(storage), options);
}
