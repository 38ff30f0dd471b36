import type { AsyncStorage } from '@scratchfs/core';

/** Two clients of one storage, which is empty at first. */
export interface WorkingCopyClients {
  readonly ours: AsyncStorage;
  readonly theirs: AsyncStorage;
}
