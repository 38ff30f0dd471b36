import type { ObjectStore } from '@scratchfs/core/object-tree';
import { describe, expect, it } from 'vitest';
import { BROKEN_OBJECT_STORES } from '../stores/broken-object-stores.js';
import { MemoryObjectStore, type MemoryObjectStoreOptions } from '../stores/memory-object-store.js';
import { objectStoreSuite } from './object-store-suite.js';
import { collectTests } from './runner.js';

/** Returns a function that opens clients of places in memory. */
function places(
  spoil: (store: ObjectStore) => ObjectStore,
  options: MemoryObjectStoreOptions,
): (place: string) => ObjectStore {
  const stores = new Map<string, MemoryObjectStore>();
  return (place) => {
    const store = stores.get(place) ?? new MemoryObjectStore(options);
    stores.set(place, store);
    return spoil(store);
  };
}

async function failuresOf(
  spoil: (store: ObjectStore) => ObjectStore,
  options: MemoryObjectStoreOptions,
  stopAtFirst = false,
): Promise<string[]> {
  const test = collectTests();
  const { namesPerPage = 1_000 } = options;
  objectStoreSuite({ test, open: places(spoil, options), listedObjects: namesPerPage + 100 });
  const results = await test.run({ stopAtFirst });
  return results.flatMap(({ name, error }) => (error === undefined ? [] : [`${name}: ${(error as Error).message}`]));
}

// Small pages and objects, so that each of the many runs takes milliseconds.
const SMALL = { namesPerPage: 20, maxObjectBytes: 131_072, transactions: true, watches: true };

describe('objectStoreSuite', () => {
  it.each([{}, SMALL])('passes a store in memory, with %j', async (options) => {
    expect(await failuresOf((store) => store, options)).toEqual([]);
  });
  it('knows more than twenty kinds of mistakes', () => {
    expect(Object.keys(BROKEN_OBJECT_STORES).length).toBeGreaterThan(20);
  });
  it.each(Object.entries(BROKEN_OBJECT_STORES))('fails a store that %s', async (_, begin) => {
    expect(await failuresOf(begin(), SMALL, true)).not.toEqual([]);
  });
});
