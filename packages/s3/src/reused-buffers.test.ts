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
