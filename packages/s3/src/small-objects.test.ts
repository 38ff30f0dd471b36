import { openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend, objectTreeStorage } from '@scratchfs/core/object-tree';
import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { beforeEach, describe, expect, it } from 'vitest';

const MAX_BYTES = 65_536;
const LARGE = Uint8Array.from({ length: 2_500_000 }, (_, i) => i % 251);
const TEXT = 'x'.repeat(500);

const parts = (store: MemoryObjectStore): string[] => [...store.objects.keys()].filter((name) => /\.\d+$/.test(name));

describe('A store of small objects', () => {
  let store: MemoryObjectStore;
  const open = async (maxCacheBytes = 0) => {
    const storage = objectTreeStorage(store, { maxCacheBytes });
    return { storage, fs: await openFileSystem(storage) };
  };

  beforeEach(() => {
    store = new MemoryObjectStore({ maxObjectBytes: MAX_BYTES });
  });

  it('keeps large contents and many files in parts, for every client', async () => {
    const { fs } = await open();
    await fs.writeFile('/large', LARGE);
    await fs.transaction(async (tx) => {
      for (let i = 0; i < 1_500; i++) await tx.writeFile(`/file-with-a-long-name-${i}`, TEXT);
    });
    expect(parts(store).length).toBeGreaterThan(40);
    for (const maxCacheBytes of [0, 2 ** 24]) {
      const other = (await open(maxCacheBytes)).fs;
      expect(Buffer.compare(await other.readFile('/large'), LARGE)).toBe(0);
      expect((await other.readdir('/')).length).toBe(1_501);
      for (const i of [0, 700, 1_499]) expect(await other.readText(`/file-with-a-long-name-${i}`)).toBe(TEXT);
    }
  });

  it('is read by a client that knows no greatest size, because the names of the objects have it', async () => {
    await (await open()).fs.writeFile('/large', LARGE);
    const plain = new MemoryObjectStore();
    for (const [name, bytes] of store.objects) await plain.put(name, bytes);
    const head = await store.readHead(undefined);
    if (typeof head === 'object') await plain.swapHead(head.bytes, undefined);
    const fs = await openFileSystem(objectTreeStorage(plain));
    await fs.appendFile('/large', LARGE);
    expect((await fs.stat('/large')).size).toBe(2 * LARGE.length);
    expect(Buffer.compare((await fs.readFile('/large')).subarray(LARGE.length), LARGE)).toBe(0);
  });

  it('keeps the parts that are reached, and loses those that are not', async () => {
    const { fs, storage } = await open();
    await fs.writeFile('/kept', LARGE);
    const kept = parts(store);
    await fs.writeFile('/large', LARGE);
    await fs.rm('/large');
    expect(await storage.collectGarbage({ olderThanMs: 1_000_000 })).toMatchObject({ deleted: 0 });
    expect(parts(store).length).toBeGreaterThan(kept.length);
    await storage.collectGarbage();
    expect(parts(store)).toEqual(kept);
    expect(Buffer.compare(await (await open()).fs.readFile('/kept'), LARGE)).toBe(0);
    await storage.destroy();
    expect([...store.objects.keys()]).toEqual([]);
  });

  it('without one of the parts is lost, not damaged', async () => {
    await (await open()).fs.writeFile('/large', LARGE);
    const { fs } = await open();
    for (const name of parts(store).slice(3, 4)) store.objects.delete(name);
    await expect(fs.readFile('/large')).rejects.toMatchObject({ kind: 'lost' });
  });

  it('is full if its head would be too large, and keeps its state', async () => {
    const { fs } = await open();
    await fs.writeFile('/f', 'old');
    const checkpoints: string[] = [];
    const fill = async (): Promise<void> => {
      for (let i = 0; i < 1_000; i++) {
        await fs.checkpoint(`a name of some length: ${TEXT.slice(0, 200)}${i}`);
        checkpoints.push('');
      }
    };
    await expect(fill()).rejects.toMatchObject({ kind: 'full', message: expect.stringContaining('drop checkpoints') });
    expect((await fs.checkpoints()).length).toBe(checkpoints.length);
    const [first] = await fs.checkpoints();
    if (first !== undefined) await fs.drop(first);
    await fs.writeFile('/f', 'new');
    expect(await (await open()).fs.readText('/f')).toBe('new');
  });

  it('must take 64 KiB', () => {
    for (const maxObjectBytes of [0, 65_535, 1.5e5 + 0.5, Number.NaN])
      expect(() => new ObjectTreeBackend(new MemoryObjectStore({ maxObjectBytes }))).toThrow(RangeError);
    for (const maxDeleteNames of [0, 1_001, 2.5, Number.NaN])
      expect(() => new ObjectTreeBackend(alteredStore(store, { maxDeleteNames }))).toThrow(/maxDeleteNames must be/);
  });
});
