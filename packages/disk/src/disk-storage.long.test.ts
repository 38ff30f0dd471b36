import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { backendSuite, fileSystemSuite, objectStoreSuite, storageSuite } from '@scratchfs/testkit';
import { afterAll, describe, it } from 'vitest';
import { DiskObjectStore } from './disk-object-store.js';
import { DiskStorage } from './disk-storage.js';

const root = mkdtempSync(join(tmpdir(), 'scratchfs-disk-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let made = 0;
const newDirectory = (): string => join(root, String(made++));

describe('DiskStorage', () => {
  const test = { describe, it: (name: string, body: () => Promise<void>) => it(name, body) };
  objectStoreSuite({
    test,
    open: (place) => new DiskObjectStore(root, place.toLowerCase().replaceAll('/', '-'), false),
    listedObjects: 200,
  });
  backendSuite({ test, create: () => new ObjectTreeBackend(new DiskObjectStore(newDirectory(), 'main', false)) });
  storageSuite({ test, create: ({ clock }) => new DiskStorage(newDirectory(), { clock, durability: 'process' }) });
  fileSystemSuite({
    test,
    create: ({ clock, limits }) =>
      openFileSystem(new DiskStorage(newDirectory(), { clock, durability: 'process' }), { clock, limits }),
  });
});
