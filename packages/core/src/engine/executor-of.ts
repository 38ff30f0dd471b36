import type { Storage, SyncStorage } from '../storage.js';
import type { Executor, SyncExecutor } from './executor.js';

/** Where a storage of this library has its executor; known to all copies of it. */
const EXECUTOR = Symbol.for('scratchfs.executor');

/** No member of the class: bundlers keep a class with a computed one, whether anybody uses it or not. */
export function showExecutor(storage: object, executor: Executor): void {
  Object.defineProperty(storage, EXECUTOR, { value: executor });
}

/** The executor behind a storage. @throws TypeError for something that is no storage of this library */
export function executorOf(storage: SyncStorage): SyncExecutor;
export function executorOf(storage: Storage): Executor;
export function executorOf(storage: Storage): Executor {
  const executor = (storage as unknown as Record<symbol, unknown> | null | undefined)?.[EXECUTOR];
  if (executor === undefined) {
    throw new TypeError('storage must be a MemoryStorage, or what asyncStorage(backend) answers');
  }
  return executor as Executor;
}
