import { type FileSystem, StorageError } from '@scratchfs/core';
import { type ObjectStore, ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';
import { openTree as open } from './testing/open-tree.js';

describe('Garbage found by a client whose clock is ahead', () => {
  /** Opens a client with a settable clock, after another client found garbage with a clock that is an hour ahead. */
  async function behind() {
    const store = new MemoryObjectStore();
    let now = 1_000;
    const ahead = await open(store, { clock: () => 3_600_000 });
    await ahead.fs.writeFile('/a', 'a');
    await ahead.fs.writeFile('/a', 'b');
    const { waiting } = await ahead.backend.collectGarbage({ olderThanMs: 500 });
    const { backend } = await open(store, { clock: () => now });
    const pass = (ms: number): void => {
      now += ms;
    };
    return { store, backend, waiting, pass };
  }

  it('is deleted immediately without olderThanMs', async () => {
    const { backend, waiting } = await behind();
    expect(await backend.collectGarbage()).toMatchObject({ deleted: waiting, waiting: 0 });
  });

  it('stays for olderThanMs from the moment when this client finds it too', async () => {
    const { store, backend, waiting, pass } = await behind();
    const collected = [];
    for (const ms of [0, 499, 1]) {
      pass(ms);
      const { deleted } = await backend.collectGarbage({ olderThanMs: 500 });
      collected.push(deleted);
    }
    expect(collected).toEqual([0, 0, waiting]);
    expect(waiting).toBeGreaterThan(0);
    expect([...store.objects.keys()].filter((name) => name.startsWith('trash/'))).toEqual([]);
  });
});

describe('A collection whose requests fail', () => {
  const unavailable = async (): Promise<never> => {
    throw new StorageError('unavailable', 'The store is away', { retryable: false });
  };

  it.each<[keyof ObjectStore, boolean]>([
    ['list', false],
    ['get', false],
    ['readHead', false],
    ['put', true],
    ['delete', true],
  ])('reports for %s whether something may have been deleted', async (method, mayHaveHappened) => {
    const map = new MemoryObjectStore();
    // After the collection has written its epoch, one method fails.
    const store: ObjectStore = alteredStore(map, {
      swapHead: async (bytes, expected) => {
        const tag = await map.swapHead(bytes, expected);
        if (isCollecting) Object.assign(store, { [method]: unavailable });
        return tag;
      },
    });
    let isCollecting = false;
    const { fs } = await open(store);
    await fs.writeFile('/a', 'a');
    await fs.writeFile('/a', 'b');
    const { backend } = await open(store, { maxCacheBytes: 0 });
    const before = map.objects.size;
    isCollecting = true;
    const options = method === 'put' ? { olderThanMs: 1 } : {};
    await expect(backend.collectGarbage(options)).rejects.toMatchObject({ kind: 'unavailable', mayHaveHappened });
    expect(map.objects.size).toBeGreaterThanOrEqual(before);
  });
});

describe('A collection whose objects vanish', () => {
  /** Opens a client with an empty cache that runs `before` ahead of each object it reads. */
  async function disturbed(before: (fs: FileSystem, backend: ObjectTreeBackend, name: string) => Promise<void>) {
    const store = new MemoryObjectStore();
    const { fs, backend } = await open(store);
    await fs.mkdir('/d');
    await fs.writeFile('/d/a', 'a');
    const get: ObjectStore['get'] = async (name, offset, length) => {
      await before(fs, backend, name);
      return store.get(name, offset, length);
    };
    return { store, backend: new ObjectTreeBackend(alteredStore(store, { get }), { maxCacheBytes: 0 }) };
  }

  it('because others are faster each time fails with a retryable conflict', async () => {
    let writes = 0;
    const { backend } = await disturbed(async (fs, other) => {
      writes += 1;
      await fs.writeFile('/d/a', `${writes}`);
      await other.collectGarbage();
    });
    await expect(backend.collectGarbage()).rejects.toMatchObject({ kind: 'conflict', retryable: true });
  });

  it('under the newest head reports the filesystem as lost', async () => {
    const { store, backend } = await disturbed(async (_fs, _other, name) => void store.objects.delete(name));
    await expect(backend.collectGarbage()).rejects.toMatchObject({ kind: 'lost' });
  });
});

describe('A collection in progress', () => {
  /** Opens a client with slow responses, on a store with garbage. */
  async function slow() {
    const store: ObjectStore = new MemoryObjectStore();
    let requests = 0;
    const slowly = async <T>(answer: Promise<T>): Promise<T> => {
      requests += 1;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return answer;
    };
    const opened = await open(
      alteredStore(store, {
        get: (...what) => slowly(store.get(...what)),
        readHead: (...what) => slowly(store.readHead(...what)),
        swapHead: (...what) => slowly(store.swapHead(...what)),
        list: (...what) => slowly(store.list(...what)),
        delete: (...what) => slowly(store.delete(...what)),
      }),
    );
    for (const text of ['a', 'b']) await opened.fs.writeFile('/a', text);
    return { ...opened, requests: () => requests };
  }

  for (const ms of [0, 10, 30, 50, 70])
    it(`ends when the storage is closed after ${ms} ms, and sends nothing more`, async () => {
      const { backend, requests } = await slow();
      const collected = backend.collectGarbage().catch((error: unknown) => error);
      await new Promise((resolve) => setTimeout(resolve, ms));
      await backend.close();
      const asked = requests();
      expect(await collected).toMatchObject({ kind: 'closed' });
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(requests()).toBe(asked);
    });

  it('rejects with the abort reason, and can be started again', async () => {
    const { backend } = await slow();
    const collected = backend.collectGarbage({ signal: AbortSignal.timeout(1) });
    await expect(collected).rejects.toMatchObject({ name: 'TimeoutError' });
    expect((await backend.collectGarbage()).deleted).toBe(1);
  });
});
