import type { FileSystem } from '@scratchfs/core';
import { overlay } from '@scratchfs/core/layers';
import { hostFileSystem } from '@scratchfs/host';
import { afterEach, describe, expect, it } from 'vitest';
import { attack, worlds } from '../../packages/sandbox/src/testing/attack.js';
import { Failure, failing } from '../../packages/sandbox/src/testing/failing.js';
import { CHANGES, NAMES, namesAfterChange, namesInFailures } from '../../packages/sandbox/src/testing/hidden-names.js';
import { type Backends, FILES, LAYERS, PLAIN, POLICIES } from '../../packages/sandbox/src/testing/worlds.js';
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
  }, 600_000);
});

it.each(Object.entries(POLICIES))('a sandbox of %s never names what it hides in a directory', async (_name, policy) => {
  const guard = async (fileSystem: FileSystem): Promise<FileSystem> => (await policy(fileSystem)).fileSystem;
  const failure = new Failure();
  const world = () => ({
    failure,
    fileSystem: folderWith(NAMES, (folder) => failing(hostFileSystem(folder), failure)),
  });
  const wrong = await namesInFailures(world(), guard, 0);
  failure.disarm();
  for (const change of Object.keys(CHANGES)) wrong.push(...(await namesAfterChange(world(), guard, change)));
  expect(wrong).toEqual([]);
});
