import { overlay } from '@scratchfs/core/layers';
import { hostFileSystem } from '@scratchfs/host';
import { afterEach, describe, expect, it } from 'vitest';
import { attack, worlds } from '../../packages/sandbox/src/testing/attack.js';
import { type Backends, FILES, LAYERS, PLAIN } from '../../packages/sandbox/src/testing/worlds.js';
import { folderWith, removeFolders } from './host-folder.js';

const BACKENDS: Backends = {
  'a directory of the host': () => folderWith(FILES, (folder) => hostFileSystem(folder)),
  'a read-only directory of the host': () => folderWith(FILES, (folder) => hostFileSystem(folder, { readonly: true })),
  'an overlay of a directory of the host': () => folderWith(FILES, (folder) => overlay(hostFileSystem(folder))),
};

const layers = process.env['SANDBOX_ATTACKS'] === 'all' ? Object.keys(LAYERS) : [PLAIN];

afterEach(removeFolders);

describe.each(worlds(BACKENDS, layers))('$policy over $backend, $layer', (world) => {
  it('lets no method read, change or detect what is outside', async () => {
    expect(await attack(world)).toEqual([]);
  }, 240_000);
});
