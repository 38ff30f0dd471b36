import { asyncStorage, type Batch, type FileSystem, openFileSystem, StorageError } from '@scratchfs/core';
import { type ObjectStore, ObjectTreeBackend, type ObjectTreeOptions } from '@scratchfs/core/object-tree';
import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';

async function open(
  store: ObjectStore,
  options: ObjectTreeOptions = {},
): Promise<{ readonly fs: FileSystem; readonly backend: ObjectTreeBackend }> {
  const backend = new ObjectTreeBackend(store, options);
  return { backend, fs: await openFileSystem(asyncStorage(backend, { retries: 0 })) };
}

/** The forks listed in the head. */
async function recorded(store: ObjectStore): Promise<readonly unknown[]> {
  const head = await store.readHead(undefined);
  if (typeof head !== 'object') throw new Error('there is a head');
  const text = new TextDecoder().decode(head.bytes);
  return JSON.parse(text.slice(text.indexOf('\n') + 1)).forks;
}

/** A store that can be down, or slow to reply that it has a new head. */
function moody(store: ObjectStore) {
  const mood = { isDown: false, losesAnswer: false, delayMs: 0, requests: 0, isClosed: false };
  const enter = (): void => {
    mood.requests += 1;
    if (mood.isClosed) throw new Error('the store is closed');
    if (mood.isDown) throw new StorageError('unavailable', 'The store is down');
  };
  const swapHead: ObjectStore['swapHead'] = async (...what) => {
    enter();
    const tag = await store.swapHead(...what);
    if (mood.losesAnswer) {
      mood.losesAnswer = false;
      mood.isDown = true;
      throw new StorageError('timeout', 'There was no answer');
    }
    await later(mood.delayMs);
    return tag;
  };
  const readHead: ObjectStore['readHead'] = async (...what) => {
    enter();
    return store.readHead(...what);
  };
  const close = async (): Promise<void> => {
    mood.isClosed = true;
  };
  return { mood, store: alteredStore(store, { swapHead, readHead, close }) };
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('A fork is removed from the head', () => {
  it('once it is closed, even if its parent is closed and others have written since', async () => {
    const shared = new MemoryObjectStore();
    const { mood, store } = moody(shared);
    const { fs, backend } = await open(store);
    await fs.writeFile('/a', 'a');
    const fork = await backend.fork();
    await backend.close();
    await expect(fs.stats()).rejects.toMatchObject({ kind: 'closed' });
    const other = await open(shared);
    await other.fs.writeFile('/b', 'b');
    const nested = await fork.fork?.();
    expect((await recorded(shared)).length).toBe(2);
    await other.fs.writeFile('/b', 'c');
    await fork.close();
    expect([(await recorded(shared)).length, mood.isClosed]).toEqual([1, false]);
    await nested?.close();
    expect([(await recorded(shared)).length, mood.isClosed]).toEqual([0, true]);
  });

  it('once the store is back, if the store was down when the fork was closed', async () => {
    const shared = new MemoryObjectStore();
    const { mood, store } = moody(shared);
    const { fs, backend } = await open(store, { retries: 0 });
    const forks = [await fs.fork(), await fs.fork(), await fs.fork()];
    const closeWhileDown = async (fork: FileSystem | undefined): Promise<void> => {
      mood.isDown = true;
      await fork?.close();
      mood.isDown = false;
    };
    await closeWhileDown(forks[0]);
    expect((await recorded(shared)).length).toBe(3);
    await backend.collectGarbage();
    expect((await recorded(shared)).length).toBe(2);
    await closeWhileDown(forks[1]);
    await fs.fork();
    expect((await recorded(shared)).length).toBe(2);
    await closeWhileDown(forks[2]);
    await backend.close();
    expect((await recorded(shared)).length).toBe(1);
  });

  it('if its creation got no reply', async () => {
    const shared = new MemoryObjectStore();
    const { mood, store } = moody(shared);
    const { fs, backend } = await open(store, { retries: 0 });
    await fs.writeFile('/a', 'a');
    mood.losesAnswer = true;
    await expect(fs.fork()).rejects.toBeInstanceOf(StorageError);
    mood.isDown = false;
    expect((await recorded(shared)).length).toBe(1);
    await backend.close();
    expect((await recorded(shared)).length).toBe(0);
  });

  it('if its creation got no reply while the last of the others was closed', async () => {
    const shared: ObjectStore = new MemoryObjectStore();
    let meanwhile: (() => void) | undefined;
    let isDown = false;
    const store = alteredStore(shared, {
      swapHead: async (...what) => {
        const tag = await shared.swapHead(...what);
        if (meanwhile === undefined) return tag;
        meanwhile();
        meanwhile = undefined;
        await later(20);
        isDown = true;
        throw new StorageError('timeout', 'There was no answer');
      },
      readHead: async (...what) => {
        const failsOnce = isDown;
        isDown = false;
        if (failsOnce) throw new StorageError('unavailable', 'The store is down');
        return shared.readHead(...what);
      },
    });
    const { fs, backend } = await open(store, { retries: 0 });
    const fork = await fs.fork();
    await backend.close();
    let closed = Promise.resolve();
    meanwhile = () => {
      closed = fork.close();
    };
    await expect(fork.fork()).rejects.toBeInstanceOf(StorageError);
    await closed;
    expect(await recorded(shared)).toEqual([]);
  });

  it('if its creation succeeded only after the call had been aborted or timed out', async () => {
    const shared = new MemoryObjectStore();
    const { mood, store } = moody(shared);
    const backend = new ObjectTreeBackend(store);
    const fs = await openFileSystem(asyncStorage(backend, { timeoutMs: 1_000 }));
    await fs.writeFile('/a', 'a');
    mood.delayMs = 2_000;
    await expect(fs.fork({ signal: AbortSignal.timeout(20) })).rejects.toBeInstanceOf(StorageError);
    await expect(fs.fork()).rejects.toBeInstanceOf(StorageError);
    mood.delayMs = 0;
    await expect.poll(() => recorded(shared)).toEqual([]);
  });
});

describe('A fork that was never closed', () => {
  it('is forgotten by a collection with a maximum age, unless it belongs to the same client', async () => {
    const store: ObjectStore = new MemoryObjectStore();
    let now = 1_000;
    const clock = (): number => now;
    const crashed = await open(store, { clock });
    await crashed.fs.writeFile('/a', 'a');
    const fork = await crashed.fs.fork();
    await fork.writeFile('/b', 'b');
    const { fs, backend } = await open(store, { clock });
    const own = await fs.fork();
    await own.writeFile('/b', 'own');
    now += 500;
    const young = await crashed.fs.fork();
    now += 499;
    await backend.collectGarbage();
    await backend.collectGarbage({ forksOlderThanMs: 1_000 });
    expect(await recorded(store)).toHaveLength(3);
    now += 1;
    await backend.collectGarbage({ forksOlderThanMs: 1_000 });
    expect(await recorded(store)).toHaveLength(2);
    expect([await own.readText('/b'), await young.readText('/a')]).toEqual(['own', 'a']);
    // Nor can it be forked, because its state is gone.
    await expect(fork.fork()).rejects.toMatchObject({ kind: 'lost' });
    expect(await recorded(store)).toHaveLength(2);
    await backend.collectGarbage();
  });
});

describe('A fork of a fork', () => {
  it('keeps its objects while a collector runs that had read the head before', async () => {
    const store: ObjectStore = new MemoryObjectStore();
    const { fs, backend } = await open(store, { maxCacheBytes: 0 });
    await fs.writeFile('/a', 'a');
    const fork = await fs.fork();
    await backend.collectGarbage();
    let nested: FileSystem | undefined;
    const late = alteredStore(store, {
      list: async (...what) => {
        if (nested === undefined) {
          nested = await fork.fork();
          await nested.writeFile('/b', 'b');
        }
        return store.list(...what);
      },
    });
    await new ObjectTreeBackend(late).collectGarbage();
    expect(await nested?.readText('/b')).toBe('b');
  });

  it('is created although the filesystem is closed concurrently', async () => {
    const { mood, store } = moody(new MemoryObjectStore());
    const { fs, backend } = await open(store);
    const fork = await fs.fork();
    mood.delayMs = 50;
    const written = fs.writeFile('/a', 'a');
    await later(20);
    const nested = fork.fork();
    await later(10);
    await backend.close();
    await Promise.all([written, nested]);
    await fork.close();
    await (await nested).writeFile('/b', 'b');
  });

  it('can be forked again, fifty levels deep, and each fork has its own content', async () => {
    const { fs } = await open(new MemoryObjectStore());
    await fs.writeFile('/a', '0');
    const forks = [fs];
    for (let depth = 1; depth <= 50; depth++) {
      const fork = (await forks.at(-1)?.fork()) ?? fs;
      await fork.writeFile('/a', `${depth}`);
      await fork.appendFile('/a', '!');
      forks.push(fork);
    }
    const texts = await Promise.all(forks.map((fork) => fork.readText('/a')));
    expect(texts).toEqual(forks.map((_, depth) => (depth === 0 ? '0' : `${depth}!`)));
  });

  it('compacts what its ancestors have scattered, whichever ranges of commit numbers were drawn', async () => {
    for (const lines of [
      [3, 1, 2],
      [2, 3, 1],
    ]) {
      const random = (below: number): number =>
        below > 2 ** 19 ? (lines.shift() ?? 0) : Math.floor(Math.random() * below);
      let { fs } = await open(new MemoryObjectStore(), { random });
      for (let depth = 0; depth < 4; depth++) {
        if (depth > 0) fs = await fs.fork();
        for (let i = 0; i < 70; i++) await fs.writeFile(`/f${depth}.${i}`, `${depth} ${i}`);
      }
      const names = await fs.readdir('/');
      expect(names.length).toBe(4 * 70);
      for (const name of names) expect(await fs.readText(`/${name}`)).toBe(name.slice(1).replace('.', ' '));
    }
  });

  it('draws another range of commit numbers than its parent, so that changes of both differ', async () => {
    const random = (below: number): number => (below > 2 ** 17 ? 4 : Math.floor(Math.random() * below));
    const { fs, backend } = await open(new MemoryObjectStore(), { random });
    await fs.writeFile('/a', '');
    const fork = await backend.fork();
    const nested = await fork.fork?.();
    const write: Batch = { operationId: 'x', checks: [], writes: [{ kind: 'touch', path: '/', time: 1 }], limits: {} };
    const first = await fork.commit(write);
    expect(first.kind).toBe('ok');
    expect(await nested?.commit(write)).not.toEqual(first);
  });
});
