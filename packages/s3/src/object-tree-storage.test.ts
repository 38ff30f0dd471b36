import { type FileSystem, openFileSystem, StorageError } from '@scratchfs/core';
import { type ObjectStore, ObjectTreeStorage, objectTreeStorage } from '@scratchfs/core/object-tree';
import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';

describe('objectTreeStorage()', () => {
  it('makes a storage with checkpoints and a garbage collection of an object store', async () => {
    const store: ObjectStore & MemoryObjectStore = new MemoryObjectStore();
    const storage = objectTreeStorage(store);
    expect(storage).toBeInstanceOf(ObjectTreeStorage);
    const fs = await openFileSystem(storage);
    for (const text of ['a', 'b', 'c']) await fs.writeFile('/f', text);
    expect(await fs.rollback(await fs.checkpoint())).toBeUndefined();
    expect(await storage.collectGarbage()).toMatchObject({ deleted: 2, live: 1 });
    await storage.close();
    await expect(storage.collectGarbage()).rejects.toMatchObject({ kind: 'closed' });
    expect(await (await openFileSystem(objectTreeStorage(store))).readText('/f')).toBe('c');
  });

  it('checks its options', () => {
    const open = (options: unknown) => () => objectTreeStorage(new MemoryObjectStore(), options as object);
    expect(open({ unknown: 1 })).toThrow("objectTreeStorage has no option 'unknown'. It takes create, maxStalenessMs");
    for (const wrong of [null, { create: 'yes' }, { timeoutMs: '5' }]) expect(open(wrong)).toThrow(TypeError);
    for (const wrong of [{ timeoutMs: 0 }, { retries: -1 }, { maxCacheBytes: 0.5 }])
      expect(open(wrong)).toThrow(RangeError);
    expect(() => objectTreeStorage({} as ObjectStore)).toThrow('must have the methods get, put');
  });

  it('does not limit the time of an operation of many requests', async () => {
    const store = new MemoryObjectStore();
    const slow = alteredStore(store, {
      put: async (name, bytes) => {
        await new Promise((resolve) => setTimeout(resolve, 25));
        await store.put(name, bytes);
      },
      readHead: async (known) => {
        await new Promise((resolve) => setTimeout(resolve, 25));
        return store.readHead(known);
      },
    });
    const other = await openFileSystem(objectTreeStorage(slow, { timeoutMs: 40 }));
    await other.writeFile('/f', 'text');
    expect(await other.readText('/f')).toBe('text');
  });
});

describe('An error of an object store', () => {
  const failing = async (
    others: (store: MemoryObjectStore) => Partial<ObjectStore>,
  ): Promise<[FileSystem, MemoryObjectStore]> => {
    const store = new MemoryObjectStore();
    await (await openFileSystem(objectTreeStorage(store))).writeFile('/f', 'old');
    return [await openFileSystem(objectTreeStorage(alteredStore(store, others(store)))), store];
  };
  const read = async (store: ObjectStore) => (await openFileSystem(objectTreeStorage(store))).readText('/f');

  it('that is no StorageError becomes the cause of one, and is not sent again', async () => {
    const cause = new TypeError('fetch failed');
    let puts = 0;
    const [fs, store] = await failing(() => ({
      put: async () => {
        puts += 1;
        throw cause;
      },
    }));
    await expect(fs.writeFile('/f', 'new')).rejects.toMatchObject({ kind: 'unavailable', retryable: false, cause });
    expect([puts, await read(store)]).toEqual([1, 'old']);
  });

  it('that is no StorageError leaves the outcome of a swap open, which is then found out', async () => {
    for (const isApplied of [false, true]) {
      let swaps = 0;
      const [fs, store] = await failing((store) => ({
        swapHead: async (bytes, expected) => {
          swaps += 1;
          if (swaps > 1) return store.swapHead(bytes, expected);
          if (isApplied) await store.swapHead(bytes, expected);
          throw new TypeError('fetch failed');
        },
      }));
      await fs.appendFile('/f', ' new');
      expect(await read(store)).toBe('old new');
    }
  });

  it.each(['full', 'denied'] as const)('of kind %s fails the write, which did not happen', async (kind) => {
    for (const name of ['put', 'swapHead'] as const) {
      let requests = 0;
      const [fs, store] = await failing(() => ({
        [name]: async () => {
          requests += 1;
          throw new StorageError(kind, 'no');
        },
      }));
      await expect(fs.writeFile('/f', 'new')).rejects.toMatchObject({ kind, retryable: false, mayHaveHappened: false });
      expect([requests, await read(store)]).toEqual([1, 'old']);
    }
  });
});
