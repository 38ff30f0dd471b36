import { asyncStorage, openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { ALL_OPERATIONS } from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import { MapStore } from '../../../packages/s3/src/testing/map-store.js';
import type { Forms } from '../../differential/forms.js';

/** Memory by its `…Sync` methods, and an object tree over a store in memory by promises: a new one for each sequence. */
export const onTree: Forms = {
  operations: ALL_OPERATIONS,
  openSync: (clock) => createFileSystem({ clock }),
  open: (clock) => {
    const backend = new ObjectTreeBackend(new MapStore(), { clock });
    return openFileSystem(asyncStorage(backend, { clock }), { clock, closesStorage: true });
  },
};
