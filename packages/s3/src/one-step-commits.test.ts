import { type FileSystem, openFileSystem, StorageError, type WatchEvent } from '@scratchfs/core';
import { type ObjectStore, objectTreeStorage } from '@scratchfs/core/object-tree';
import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';

const open = (store: ObjectStore): Promise<FileSystem> => openFileSystem(objectTreeStorage(store));

/** A store with transactions that counts requests. */
function counted(store: MemoryObjectStore) {
  const counts = { get: 0, put: 0, swapHead: 0, commit: 0 };
  const counting = alteredStore(store, {
    get: (name, offset, length) => {
      counts.get += 1;
      return store.get(name, offset, length);
    },
    put: (name, bytes) => {
      counts.put += 1;
      return store.put(name, bytes);
    },
    swapHead: (bytes, expected) => {
      counts.swapHead += 1;
      return store.swapHead(bytes, expected);
    },
    commit: async (...what) => {
      counts.commit += 1;
      return store.commit?.(...what);
    },
  });
  return { counts, counting };
}

describe('A store with transactions', () => {
  it('gets one request for a small write, and puts large contents first', async () => {
    const { counts, counting } = counted(new MemoryObjectStore({ transactions: true }));
    const fs = await open(counting);
    Object.assign(counts, { get: 0, put: 0, swapHead: 0, commit: 0 });
    for (let i = 0; i < 5; i++) await fs.writeFile('/f', `${i}`);
    expect(counts).toEqual({ get: 0, put: 0, swapHead: 0, commit: 5 });
    await fs.writeFile('/large', new Uint8Array(1_500_000));
    expect(counts).toMatchObject({ put: 2, swapHead: 1, commit: 5 });
    await fs.checkpoint('c');
    expect(counts).toMatchObject({ swapHead: 2, commit: 5 });
  });

  it('loses no race between clients, and applies each append once', async () => {
    const store = new MemoryObjectStore({ transactions: true });
    const clients = await Promise.all([1, 2, 3].map(() => open(store)));
    await clients[0]?.writeFile('/log', '');
    await Promise.all(
      clients.map(async (fs, c) => {
        for (let i = 0; i < 10; i++) await fs.appendFile('/log', `<${c}.${i}>`);
      }),
    );
    const tokens = ((await clients[1]?.readText('/log')) ?? '').match(/<[^>]*>/g);
    expect([tokens?.length, new Set(tokens).size]).toEqual([30, 30]);
  });

  it.each([true, false])('whose reply to a commit is lost has applied it once; it arrived: %s', async (arrived) => {
    const store = new MemoryObjectStore({ transactions: true });
    const large = new Uint8Array(300_000).fill(7);
    let commits = 0;
    const fs = await open(
      alteredStore(store, {
        commit: async (...what) => {
          commits += 1;
          if (commits !== 2) return store.commit?.(...what);
          if (arrived) await store.commit?.(...what);
          throw new StorageError('unavailable', 'no reply');
        },
      }),
    );
    await fs.writeFile('/f', 'a');
    await fs.appendFile('/f', large);
    await fs.appendFile('/f', 'z');
    const read = await (await open(store)).readFile('/f');
    expect([read.length, read[1], read.at(-1)]).toEqual([300_002, 7, 'z'.charCodeAt(0)]);
  });
});

describe('A store that tells of new heads', () => {
  /** Collects events until one has this path or type. */
  async function eventsUntil(fs: FileSystem, isLast: (event: WatchEvent) => boolean, work: () => Promise<unknown>) {
    const events: string[] = [];
    const watching = (async () => {
      for await (const event of fs.watch('/', { recursive: true })) {
        events.push(`${event.type} ${event.path}`);
        if (isLast(event)) return;
      }
    })();
    await work();
    await watching;
    return events;
  }

  it('lets watchers hear of changes of other clients, as overflow, and of their own one by one', async () => {
    const store = new MemoryObjectStore({ watches: true });
    const [a, b] = [await open(store), await open(store)];
    expect(a.capabilities.sharedWatch).toBe(true);
    const events = await eventsUntil(
      a,
      ({ path }) => path === '/last',
      async () => {
        await a.writeFile('/own', '1');
        await b.checkpoint('no change of a file');
        await b.writeFile('/other', '1');
        await new Promise((resolve) => setTimeout(resolve, 5));
        await a.writeFile('/last', '1');
      },
    );
    expect(events).toEqual(['create /own', 'overflow /', 'create /last']);
  });

  it('has each own change reported, even if another client changes something in between', async () => {
    const store = new MemoryObjectStore({ watches: true });
    const [a, b] = [await open(store), await open(store)];
    const events = await eventsUntil(
      a,
      ({ path }) => path === '/last',
      async () => {
        await Promise.all([
          ...Array.from({ length: 10 }, (_, i) => a.writeFile(`/own${i}`, '')),
          ...Array.from({ length: 10 }, (_, i) => b.writeFile(`/other${i}`, '')),
        ]);
        await a.writeFile('/last', '');
      },
    );
    for (let i = 0; i < 10; i++) expect(events.filter((event) => event === `create /own${i}`).length).toBe(1);
    expect(events).toContain('overflow /');
    expect(events.filter((event) => event.includes('other'))).toEqual([]);
  });

  it('looks again if the head could not be read after a change', async () => {
    const store = new MemoryObjectStore({ watches: true });
    let failures = 0;
    const flaky = alteredStore(store, {
      readHead: async (known) => {
        if (failures > 0) throw new StorageError('unavailable', `not now ${failures--}`);
        return store.readHead(known);
      },
    });
    const fs = await openFileSystem(objectTreeStorage(flaky, { retries: 0 }));
    const other = await open(store);
    const next = fs.watch('/', { recursive: true })[Symbol.asyncIterator]().next();
    await new Promise((resolve) => setTimeout(resolve, 5));
    failures = 1;
    await other.writeFile('/other', '1');
    expect(await next).toMatchObject({ value: { type: 'overflow' } });
  });

  it('ends watchers if the filesystem is gone', async () => {
    const store = new MemoryObjectStore({ watches: true });
    const fs = await open(store);
    const storage = objectTreeStorage(store);
    await openFileSystem(storage);
    const next = fs.watch('/')[Symbol.asyncIterator]().next();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await storage.destroy();
    await expect(Promise.all([next, open(store)])).rejects.toMatchObject({ kind: 'lost' });
  });

  it('ends watchers if it can no longer tell', async () => {
    const store = new MemoryObjectStore();
    let fail: (error: unknown) => void = () => {};
    const fs = await open(
      alteredStore(store, {
        watch: (_, onFailure) => {
          fail = onFailure;
          return () => {};
        },
      }),
    );
    const next = fs.watch('/')[Symbol.asyncIterator]().next();
    await Promise.resolve();
    fail(new StorageError('unavailable', 'gone'));
    await expect(next).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
