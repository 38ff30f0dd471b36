import { asyncStorage, type FileSystem, openFileSystem } from '@scratchfs/core';
import { diff } from '@scratchfs/core/diff';
import { ObjectTreeBackend, type ObjectTreeOptions } from '@scratchfs/core/object-tree';
import { createSnapshot } from '@scratchfs/core/snapshot';
import { MemoryObjectStore, Random } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';
import { CountingStore } from './testing/counting-store.js';

interface Client {
  readonly fs: FileSystem;
  readonly store: CountingStore;
}

async function open(map: MemoryObjectStore, options: ObjectTreeOptions = {}): Promise<Client> {
  const store = new CountingStore(map);
  return { store, fs: await openFileSystem(asyncStorage(new ObjectTreeBackend(store, options))) };
}

const FOLDERS = 100;
const FILES_EACH = 50;
const FILE_BYTES = 4_096;

/** Creates 5,000 files of 4 KB in 100 directories in one commit. */
async function makeTree({ fs }: Client): Promise<void> {
  await fs.transaction(async (tx) => {
    for (let folder = 0; folder < FOLDERS; folder++) {
      await tx.mkdir(`/src/part-${folder}`, { recursive: true });
      for (let file = 0; file < FILES_EACH; file++)
        await tx.writeFile(`/src/part-${folder}/file-${file}.txt`, new Uint8Array(FILE_BYTES).fill(folder + file));
    }
  });
}

describe('Requests', () => {
  it('a warm stat, listing or read of a cached file costs one request for the head, and none with maxStalenessMs', async () => {
    const map = new MemoryObjectStore();
    const { fs, store } = await open(map);
    await fs.writeFile('/f', 'text');
    await fs.readText('/f');
    expect(await store.costOf(() => fs.stat('/f'))).toBe(1);
    expect(await store.costOf(() => fs.readText('/f'))).toBe(1);
    await fs.readdir('/');
    expect(await store.costOf(() => fs.readdir('/'))).toBe(1);
    const lax = await open(map, { maxStalenessMs: 3_600_000 });
    await lax.fs.readText('/f');
    expect(await lax.store.costOf(() => lax.fs.readText('/f'))).toBe(0);
    expect(await lax.store.costOf(() => lax.fs.stat('/f'))).toBe(0);
  });

  it('a small write costs an object and a swap; a checkpoint, a drop and a rollback cost a swap each', async () => {
    const { fs, store } = await open(new MemoryObjectStore());
    await fs.writeFile('/f', 'text');
    expect(await store.costOf(() => fs.writeFile('/f', 'more'))).toBe(2);
    expect(await store.costOf(() => fs.writeFile('/new', 'file'))).toBe(2);
    expect(await store.costOf(() => fs.mkdir('/d'))).toBe(2);
    expect(await store.costOf(() => fs.appendFile('/f', 'more'))).toBeLessThanOrEqual(2);
    await fs.checkpoint('warm');
    let checkpoint = await fs.checkpoint();
    expect(await store.costOf(async () => (checkpoint = await fs.checkpoint()))).toBe(1);
    expect(await store.costOf(() => fs.rollback(checkpoint))).toBe(1);
    expect(await store.costOf(() => fs.drop(checkpoint))).toBe(1);
    // A fork reads the stored limits first.
    expect(await store.costOf(() => fs.fork())).toBe(2);
  });

  it('1,000 writes in one transaction cost a few requests, and so do a rename, copy and removal of whole directories', async () => {
    const { fs, store } = await open(new MemoryObjectStore());
    await fs.mkdir('/d');
    const writes = await store.costOf(() =>
      fs.transaction(async (tx) => {
        for (let i = 0; i < 1_000; i++) await tx.writeFile(`/d/f${i}`, `text ${i}`);
      }),
    );
    expect(writes).toBeLessThanOrEqual(20);
    expect(await store.costOf(() => fs.rename('/d', '/e'))).toBeLessThanOrEqual(4);
    expect(await store.costOf(() => fs.cp('/e', '/copy', { recursive: true }))).toBeLessThanOrEqual(4);
    expect(await store.costOf(() => fs.rm('/e', { recursive: true }))).toBeLessThanOrEqual(4);
    expect(await fs.readText('/copy/f999')).toBe('text 999');
  });

  it('a tree of 5,000 files is loaded in a few requests, and in less than 100 after 1,000 scattered commits', {
    timeout: 240_000,
  }, async () => {
    const map = new MemoryObjectStore();
    const first = await open(map);
    await makeTree(first);
    const fresh = await open(map);
    expect(await fresh.store.costOf(() => createSnapshot(fresh.fs))).toBeLessThanOrEqual(10);
    for (const work of [
      (fs: FileSystem) => fs.rename('/src/part-1', '/src/moved'),
      (fs: FileSystem) => fs.cp('/src', '/copy', { recursive: true }),
      (fs: FileSystem) => fs.rm('/copy', { recursive: true }),
    ]) {
      const { fs, store } = await open(map);
      // By a client with an empty cache.
      expect(await store.costOf(() => work(fs))).toBeLessThanOrEqual(7);
    }
    const random = new Random(1);
    const before = first.store.total;
    for (let i = 0; i < 1_000; i++)
      await first.fs.writeFile(
        `/src/part-${2 + random.below(FOLDERS - 2)}/file-${random.below(FILES_EACH)}.txt`,
        `change ${i}`,
      );
    const each = (first.store.total - before) / 1_000;
    expect(each).toBeLessThanOrEqual(3.5);
    const later = await open(map);
    const cost = await later.store.costOf(() => createSnapshot(later.fs));
    console.log(`a write on average ${each}; a tree of 5,000 files after 1,000 scattered commits ${cost}`);
    expect(cost).toBeLessThanOrEqual(100);
  });

  it('a directory of 20,000 entries is not rewritten for one change, and a diff reads only what differs', {
    timeout: 120_000,
  }, async () => {
    const map = new MemoryObjectStore();
    const { fs } = await open(map);
    await fs.mkdir('/d');
    await fs.transaction(async (tx) => {
      for (let i = 0; i < 20_000; i++) await tx.writeFile(`/d/file-${String(i).padStart(6, '0')}`, '');
    });
    const before = await fs.checkpoint();
    const cold = await open(map);
    expect(await cold.store.costOf(() => cold.fs.cp('/d', '/copy', { recursive: true }))).toBeLessThanOrEqual(4);
    expect(await cold.store.costOf(() => cold.fs.rm('/copy', { recursive: true }))).toBeLessThanOrEqual(4);
    const known = new Set(map.objects.keys());
    await fs.writeFile('/d/file-010000', 'changed');
    const added = [...map.objects]
      .filter(([name]) => !known.has(name))
      .reduce((sum, [, bytes]) => sum + bytes.length, 0);
    expect(added).toBeLessThan(64 * 1024);
    const other = await open(map);
    const cost = await other.store.costOf(async () => {
      const { changed } = await diff(other.fs, before);
      expect(changed.map(({ path }) => path)).toEqual(['/d/file-010000']);
    });
    console.log(`one change among 20,000 entries: ${added} bytes up; its diff: ${cost} requests`);
  });
});
