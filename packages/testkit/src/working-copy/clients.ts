import type { AsyncStorage } from '@scratchfs/core';

/** Two clients of one storage that is initially empty. */
export interface WorkingCopyClients {
  readonly ours: AsyncStorage;
  readonly theirs: AsyncStorage;
}
