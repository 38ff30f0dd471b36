import { describe, expect, it } from 'vitest';
import { attack, worlds } from './testing/attack.js';
import { BACKENDS, LAYERS } from './testing/worlds.js';

describe.each(worlds(Object.keys(BACKENDS), Object.keys(LAYERS)))('$policy over $backend, $layer', (world) => {
  it('lets no method read, change or make out what is outside', async () => {
    expect(await attack(world)).toEqual([]);
  }, 60_000);
});
