import { asyncStorage, openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { ALL_OPERATIONS, MemoryObjectStore } from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import type { Forms } from '../../differential/forms.js';

/**
 * Forms to compare: the `…Sync` methods in memory, and the promises over an object tree in memory, with a new tree for
 * each sequence.
 */
export const onTree: Forms = {
  operations: ALL_OPERATIONS,
  openSync: (clock) => createFileSystem({ clock }),
  open: (clock) => {
    const backend = new ObjectTreeBackend(new MemoryObjectStore(), { clock });
    return openFileSystem(asyncStorage(backend, { clock }), { clock, closesStorage: true });
  },
};
