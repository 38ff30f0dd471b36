import { ExecutorSyncStorage, MemoryExecutor, rootMeta, systemClock } from '@scratchfs/core';

export interface MemoryStorageOptions {
  /** Epoch milliseconds of new entries that bring no times. Default: the system's clock. */
  readonly clock?: (() => number) | undefined;
}

/**
 * A storage in memory: a persistent tree whose parts are shared by checkpoints and forks, so that each of those is O(1).
 * Gone with the process.
 */
export class MemoryStorage extends ExecutorSyncStorage {
  constructor(options: MemoryStorageOptions = {}) {
    const clock = options.clock ?? systemClock;
    super(MemoryExecutor.create(rootMeta(clock())), clock);
  }
}
