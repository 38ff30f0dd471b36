import { openFileSystem } from '@scratchfs/core';
import { asyncMemoryStorage, MemoryStorage } from '@scratchfs/memory';
import { fileSystemSuite } from '@scratchfs/testkit';
import { describe, it } from 'vitest';
import { Sandbox } from './sandbox.js';

const EVERYTHING = { root: { root: '/' } };

fileSystemSuite({
  name: 'FileSystem of a sandbox that allows everything',
  test: { describe, it },
  create: ({ clock, limits }) => {
    const fileSystem = openFileSystem(new MemoryStorage({ clock }), { clock, limits });
    return new Sandbox(fileSystem, EVERYTHING).deriveSync({ allowRead: '/', allowWrite: '/' }).fileSystem;
  },
});

fileSystemSuite({
  name: 'FileSystem of a sandbox over a far storage that allows everything',
  test: { describe, it },
  create: async ({ clock, limits }) => {
    const fileSystem = await openFileSystem(asyncMemoryStorage({ clock }), { clock, limits });
    return new Sandbox(fileSystem, EVERYTHING).fileSystem;
  },
});
