import type { ObjectStore } from '@scratchfs/core/object-tree';
import { describe, expect, it } from 'vitest';
import { alteredStore } from '../stores/altered-store.js';
import { BROKEN_OBJECT_STORES } from '../stores/broken-object-stores.js';
import { MemoryObjectStore, type MemoryObjectStoreOptions } from '../stores/memory-object-store.js';
import { type OptionalMethod, objectStoreSuite } from './object-store-suite.js';
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
  objectStoreSuite({
    test,
    methods: methodsOf(options),
    open: places(spoil, options),
    listedObjects: namesPerPage + 100,
    // A head in memory is told within a millisecond.
    watchTimeoutMs: 300,
  });
  const results = await test.run({ stopAtFirst });
  return results.flatMap(({ name, error }) => (error === undefined ? [] : [`${name}: ${(error as Error).message}`]));
}

function methodsOf({ transactions, watches }: MemoryObjectStoreOptions): OptionalMethod[] {
  return ['deleteHead', ...(transactions ? (['commit'] as const) : []), ...(watches ? (['watch'] as const) : [])];
}

// Small pages and objects, so that each of the many runs takes milliseconds.
const SMALL = { namesPerPage: 20, maxObjectBytes: 131_072, transactions: true, watches: true };

describe('objectStoreSuite', () => {
  it.each([{}, SMALL])('passes a store in memory, with %j', async (options) => {
    expect(await failuresOf((store) => store, options)).toEqual([]);
  });
  it('passes a store that takes few names in a deletion, and is never given more', async () => {
    const few = (store: ObjectStore) =>
      alteredStore(store, {
        maxDeleteNames: 50,
        delete: async (names) => {
          if (names.length > 50) throw new Error(`${names.length} names`);
          await store.delete(names);
        },
      });
    expect(await failuresOf(few, SMALL)).toEqual([]);
  });
  it('tests a method only if told that the store has it, and fails if it was told wrong', async () => {
    const suiteOf = (methods: readonly OptionalMethod[]) => {
      const test = collectTests();
      objectStoreSuite({ test, methods, open: places((store) => store, SMALL) });
      return test;
    };
    const [all, none] = [suiteOf(['deleteHead', 'commit', 'watch']), suiteOf([])];
    expect(all.tests.length - none.tests.length).toBe(8);
    for (const methods of [[], ['commit', 'watch']] as const) {
      const results = await suiteOf(methods).run({ stopAtFirst: true });
      expect(results.map(({ error }) => String(error))).toEqual([expect.stringContaining('option `methods`')]);
    }
  });
  it('knows more than twenty kinds of mistakes', () => {
    expect(Object.keys(BROKEN_OBJECT_STORES).length).toBeGreaterThan(20);
  });
  it.each(Object.entries(BROKEN_OBJECT_STORES))('fails a store that %s', async (_, begin) => {
    expect(await failuresOf(begin(), SMALL, true)).not.toEqual([]);
  });
});
