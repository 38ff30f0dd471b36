import { asyncStorage, openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { backendSuite, fileSystemSuite, MemoryObjectStore, storageSuite } from '@scratchfs/testkit';
import { describe, it } from 'vitest';

describe('An object tree over a map', () => {
  const test = { describe, it: (name: string, body: () => Promise<void>) => it(name, body) };
  backendSuite({ test, create: () => new ObjectTreeBackend(new MemoryObjectStore()) });
  storageSuite({
    test,
    create: ({ clock }) => asyncStorage(new ObjectTreeBackend(new MemoryObjectStore(), { clock }), { clock }),
  });
  fileSystemSuite({
    test,
    create: ({ clock, limits }) =>
      openFileSystem(asyncStorage(new ObjectTreeBackend(new MemoryObjectStore(), { clock }), { clock }), {
        clock,
        limits,
      }),
  });
});
