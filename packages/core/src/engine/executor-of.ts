import type { Storage, SyncStorage } from '../storage.js';
import type { Executor, SyncExecutor } from './executor.js';

/** Symbol of a storage's executor, shared by all copies of this library. */
const EXECUTOR = Symbol.for('scratchfs.executor');

/**
 * Attaches the executor. Not a member of the class: bundlers keep a class with a computed member even if it is unused.
 */
export function showExecutor(storage: object, executor: Executor): void {
  Object.defineProperty(storage, EXECUTOR, { value: executor });
}

/** Returns the executor of a storage. @throws TypeError if it is not a storage of this library */
export function executorOf(storage: SyncStorage): SyncExecutor;
export function executorOf(storage: Storage): Executor;
export function executorOf(storage: Storage): Executor {
  const executor = (storage as unknown as Record<symbol, unknown> | null | undefined)?.[EXECUTOR];
  if (executor === undefined) {
    throw new TypeError('storage must be a MemoryStorage or a result of asyncStorage(backend)');
  }
  return executor as Executor;
}
