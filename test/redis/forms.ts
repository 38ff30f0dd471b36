import { openFileSystem } from '@scratchfs/core';
import { RedisStorage } from '@scratchfs/redis';
import { ALL_OPERATIONS } from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import type { Forms } from '../differential/forms.js';
import type { RedisLocation } from './clients.js';

/**
 * Forms to compare: the `…Sync` methods in memory, and the promises over Redis, with a new location for each sequence.
 */
export function onRedis(place: () => RedisLocation): Forms {
  return {
    operations: ALL_OPERATIONS,
    openSync: (clock) => createFileSystem({ clock }),
    open: (clock) => {
      const { url, namespace } = place();
      return openFileSystem(new RedisStorage(url, { namespace, clock }), { clock, closesStorage: true });
    },
  };
}
