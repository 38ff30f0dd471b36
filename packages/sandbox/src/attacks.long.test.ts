import type { FileSystem } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { attack, worlds } from './testing/attack.js';
import { BACKENDS, LAYERS, PLAIN } from './testing/worlds.js';

const layers = Object.keys(LAYERS);

/**
 * `npm run campaign -- sandbox/attacks` runs every combination. By default: every backend, and every layer over memory.
 */
const chosen =
  process.env['SANDBOX_ATTACKS'] === 'all'
    ? worlds(BACKENDS, layers)
    : [
        ...worlds(BACKENDS, [PLAIN]),
        ...worlds(
          { memory: BACKENDS['memory'] as () => FileSystem },
          layers.filter((layer) => layer !== PLAIN),
        ),
      ];

describe.each(chosen)('$policy over $backend, $layer', (world) => {
  it('lets no method read, change or detect anything outside', async () => {
    expect(await attack(world)).toEqual([]);
  }, 60_000);
});
