import { asyncStorage, openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { backendSuite, fileSystemSuite, storageSuite } from '@scratchfs/testkit';
import { describe, it } from 'vitest';
import { MapStore } from './testing/map-store.js';

describe('An object tree over a map', () => {
  const test = { describe, it: (name: string, body: () => Promise<void>) => it(name, body) };
  backendSuite({ test, create: () => new ObjectTreeBackend(new MapStore()) });
  storageSuite({
    test,
    create: ({ clock }) => asyncStorage(new ObjectTreeBackend(new MapStore(), { clock }), { clock }),
  });
  fileSystemSuite({
    test,
    create: ({ clock, limits }) =>
      openFileSystem(asyncStorage(new ObjectTreeBackend(new MapStore(), { clock }), { clock }), { clock, limits }),
  });
});
