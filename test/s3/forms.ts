import { openFileSystem } from '@scratchfs/core';
import { S3Storage } from '@scratchfs/s3';
import { ALL_OPERATIONS } from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import type { Forms } from '../differential/forms.js';
import { type Place, urlOf } from './servers/test-bucket.js';

/** Forms to compare: the `…Sync` methods in memory, and the promises over S3, with a new place for each sequence. */
export function onS3(place: () => Place): Forms {
  return {
    operations: ALL_OPERATIONS,
    openSync: (clock) => createFileSystem({ clock }),
    open: (clock) => openFileSystem(new S3Storage(urlOf(place()), { clock }), { clock, closesStorage: true }),
  };
}
