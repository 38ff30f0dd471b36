import { asyncStorage, type FileSystem, openFileSystem } from '@scratchfs/core';
import { type ObjectStore, ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { beforeEach, describe, expect, it } from 'vitest';
import { openTree } from './testing/open-tree.js';

/** Requests after which an endless loop is stopped. */
const MAX_GETS = 1_000;
/** Larger than a piece that shares an object with others. */
const PART_BYTES = 300_000;

const CONTRACT = 'a store must not reuse the buffer';

describe('An object store that returns every object in the same buffer', () => {
  let store: MemoryObjectStore;
  let gets: number;

  const reusing = (): ObjectStore => {
    const buffer = new Uint8Array(2 ** 21);
    return alteredStore(store, {
      get: async (name, offset, length) => {
        gets += 1;
        if (gets > MAX_GETS) throw new Error('The loop does not end');
        const bytes = await store.get(name, offset, length);
        if (bytes === undefined) return undefined;
        buffer.set(bytes);
        return buffer.subarray(0, bytes.length);
      },
    });
  };
  const openReusing = async (): Promise<FileSystem> => (await openTree(reusing())).fs;

  beforeEach(async () => {
    store = new MemoryObjectStore();
    gets = 0;
    const { fs } = await openTree(store);
    await fs.writeFile('/file', new Uint8Array(PART_BYTES).fill(1));
    await fs.appendFile('/file', new Uint8Array(PART_BYTES).fill(2));
  });

  it('fails a read, and the error names the broken part of the contract', async () => {
    const fs = await openReusing();
    await expect(fs.readFile('/file')).rejects.toMatchObject({
      name: 'StorageError',
      kind: 'corrupt',
      retryable: false,
      message: expect.stringContaining(CONTRACT),
    });
  });

  it('fails a listing of a checkpoint and a collection within a bounded number of requests', async () => {
    const { fs } = await openTree(store);
    for (let i = 0; i < 40; i++) {
      await fs.mkdir(`/d${i}`);
      await fs.writeFile(`/d${i}/f`, new Uint8Array(PART_BYTES).fill(i));
    }
    const backend = new ObjectTreeBackend(reusing());
    const settled = await Promise.allSettled([
      backend.collectGarbage(),
      openFileSystem(asyncStorage(backend)).then((one) => one.walk('/').next()),
    ]);
    for (const one of settled)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ name: 'StorageError', kind: 'corrupt' });
    expect(gets).toBeLessThan(MAX_GETS);
  });
});

describe('An object store whose result has the wrong form', () => {
  const head = { tag: '1', bytes: new Uint8Array(9) };
  it.each<[keyof ObjectStore, unknown]>([
    ['get', null],
    ['get', new ArrayBuffer(8)],
    ['get', 'text'],
    ['get', new Uint16Array(8)],
    ['readHead', null],
    ['readHead', { tag: '1' }],
    ['readHead', { ...head, tag: 1 }],
    ['list', ['name']],
    ['list', { names: [], cursor: null }],
    ['commit', null],
  ])('fails with an error that names %s and what it must return, not %j', async (method, result) => {
    const store = new MemoryObjectStore({ transactions: method === 'commit' });
    const { fs: other } = await openTree(store);
    await other.writeFile('/file', 'x'.repeat(PART_BYTES));
    let isBroken = false;
    const original = store[method as 'get'] as unknown as ((...what: unknown[]) => Promise<unknown>) | undefined;
    const broken = async (...what: unknown[]) => (isBroken ? result : await original?.apply(store, what));
    const backend = new ObjectTreeBackend(alteredStore(store, { [method]: broken }));
    const fs = await openFileSystem(asyncStorage(backend));
    isBroken = true;
    const error = await (async () => {
      await fs.readFile('/file');
      await fs.writeFile('/new', 'x');
      await backend.collectGarbage();
    })().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: 'StorageError',
      kind: 'unsupported',
      retryable: false,
      message: expect.stringContaining(`${method}() of the object store must return`),
    });
  });

  it.each(['swapHead', 'commit'] as const)('has not won if %s returns null', async (method) => {
    const store = new MemoryObjectStore({ transactions: method === 'commit' });
    let swaps = 0;
    const broken = async (): Promise<string | undefined> => {
      swaps += 1;
      return null as unknown as undefined;
    };
    const original = store[method] as typeof broken;
    const fs = await openFileSystem(
      asyncStorage(
        new ObjectTreeBackend(
          alteredStore(store, { [method]: (...what: []) => (swaps === 1 ? broken() : original.apply(store, what)) }),
        ),
      ),
    );
    await fs.writeFile('/log', 'x');
    swaps = 1;
    await fs.appendFile('/log', 'y');
    const { fs: other } = await openTree(store);
    expect([swaps, await other.readText('/log')]).toEqual([2, 'xy']);
  });
});
