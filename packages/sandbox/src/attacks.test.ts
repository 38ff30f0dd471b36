import type { FileSystem } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { attack, worlds } from './testing/attack.js';
import { BACKENDS, PLAIN } from './testing/worlds.js';

/** All other combinations are in the long test. */
describe.each(worlds({ memory: BACKENDS['memory'] as () => FileSystem }, [PLAIN]))(
  '$policy over $backend, $layer',
  (world) => {
    it('lets no method read, change or detect anything outside', async () => {
      expect(await attack(world)).toEqual([]);
    }, 60_000);
  },
);
