import { rootMeta, systemClock } from './engine/defaults.js';
import { MemoryExecutor } from './engine/memory/memory-executor.js';
import { ExecutorSyncStorage } from './executor-storage.js';

export interface MemoryStorageOptions {
  /** Returns epoch milliseconds, for all times that the caller does not give. Default: the system's clock. */
  readonly clock?: (() => number) | undefined;
}

/**
 * A storage in memory: a tree whose parts checkpoints and forks share, so that creating one of those is O(1). Its
 * contents end with the process.
 */
export class MemoryStorage extends ExecutorSyncStorage {
  constructor(options: MemoryStorageOptions = {}) {
    const clock = options.clock ?? systemClock;
    super(MemoryExecutor.create(rootMeta(clock())), clock);
  }
}
