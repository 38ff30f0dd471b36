import { openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend, objectTreeStorage } from '@scratchfs/core/object-tree';
import { backendSuite, fileSystemSuite, MemoryObjectStore, storageSuite } from '@scratchfs/testkit';
import { describe, it } from 'vitest';

const test = { describe, it: (name: string, body: () => Promise<void>) => it(name, body) };

const SMALL = { maxObjectBytes: 65_536, transactions: true, watches: true };

describe.each([
  ['a store in memory', {}, {}],
  ['a store of small objects with transactions and news of heads, without a cache', { maxCacheBytes: 0 }, SMALL],
] as const)('An object tree over %s', (_, options, of) => {
  const store = (): MemoryObjectStore => new MemoryObjectStore(of);
  backendSuite({ test, create: () => new ObjectTreeBackend(store(), options) });
  storageSuite({ test, create: ({ clock }) => objectTreeStorage(store(), { ...options, clock }) });
  fileSystemSuite({
    test,
    create: ({ clock, limits }) => openFileSystem(objectTreeStorage(store(), { ...options, clock }), { clock, limits }),
  });
});
