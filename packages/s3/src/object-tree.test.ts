import { asyncStorage, type FileSystem, isFsError, type Limits, openFileSystem } from '@scratchfs/core';
import { diff } from '@scratchfs/core/diff';
import { type ObjectStore, ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { createSnapshot, restoreSnapshot } from '@scratchfs/core/snapshot';
import { MemoryStorage } from '@scratchfs/memory';
import { alteredStore, dump, MemoryObjectStore } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';
import { CountingStore } from './testing/counting-store.js';
import { openTree as open } from './testing/open-tree.js';

function openLimited(store: ObjectStore, limits: Limits): Promise<FileSystem> {
  return openFileSystem(asyncStorage(new ObjectTreeBackend(store)), { limits });
}

describe('Several clients of one store', () => {
  it('lose races and still succeed, each write applied once', async () => {
    const store = new MemoryObjectStore();
    const clients = await Promise.all(Array.from({ length: 6 }, () => open(store)));
    await clients[0]?.fs.writeFile('/log', '');
    await Promise.all(
      clients.map(async ({ fs }, client) => {
        for (let i = 0; i < 8; i++) await fs.appendFile('/log', `${client}.${i} `);
      }),
    );
    const words = (await (await open(store)).fs.readText('/log')).trim().split(' ');
    expect(new Set(words).size).toBe(48);
    expect(words.length).toBe(48);
  });

  it('never exceed limits that one of them was opened with', async () => {
    const store = new MemoryObjectStore();
    await openLimited(store, { maxTotalSize: 50 });
    const clients = await Promise.all(Array.from({ length: 4 }, () => open(store)));
    const outcomes = await Promise.all(
      clients.flatMap(({ fs }, client) =>
        Array.from({ length: 10 }, (_, i) =>
          fs.writeFile(`/f${client}-${i}`, '12345').then(
            () => 'ok',
            (error: unknown) => (isFsError(error, 'ENOSPC') ? 'full' : String(error)),
          ),
        ),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'ok').length).toBe(10);
    expect(outcomes.filter((outcome) => outcome === 'full').length).toBe(30);
    expect((await (await open(store)).fs.stats()).totalSize).toBe(50);
  });

  it('learn how many checkpoints exist if one is refused, even by a limit that another client has changed', async () => {
    const store = new MemoryObjectStore();
    const fs = await openLimited(store, { maxCheckpoints: 2 });
    await fs.checkpoint('a');
    await fs.checkpoint('b');
    const full = { code: 'ENOSPC', path: 'c', limit: 'maxCheckpoints', used: 2, requested: 3 };
    await expect(fs.checkpoint('c')).rejects.toMatchObject({ ...full, allowed: 2 });
    const { fs: other } = await open(store);
    await other.setLimits({ maxCheckpoints: 1 });
    await expect(fs.checkpoint('c')).rejects.toMatchObject({
      ...full,
      allowed: 1,
      hint: 'The limit maxCheckpoints is 1 checkpoints; 2 are in use and this would make 3',
    });
    await other.setLimits({ maxCheckpoints: 3 });
    await fs.checkpoint('c');
  });

  it('share a commit for concurrent operations of one process', async () => {
    const store = new CountingStore(new MemoryObjectStore());
    const { fs } = await open(store);
    await fs.mkdir('/d');
    const before = store.counts.swapHead;
    await Promise.all(Array.from({ length: 300 }, (_, i) => fs.writeFile(`/d/f${i}`, `${i}`)));
    expect(store.counts.swapHead - before).toBeLessThan(20);
    expect((await fs.readdir('/d')).length).toBe(300);
  });

  it('put no object much larger than 8 MiB, however many small files are written or compacted together', async () => {
    const store = new MemoryObjectStore();
    const { fs, backend } = await open(store);
    const largest = () => Math.max(...[...store.objects.values()].map(({ length }) => length));
    const names = Array.from({ length: 120 }, (_, i) => `/f${i}`);
    await fs.writeFile('/log', '');
    await Promise.all(names.map((name, i) => fs.writeFile(name, new Uint8Array(250_000).fill(i))));
    expect(store.objects.size).toBeLessThan(10);
    expect(largest()).toBeLessThan(9 * 2 ** 20);
    for (let i = 0; i < 70; i++) await fs.writeFile('/log', `${i}`);
    expect(largest()).toBeLessThan(9 * 2 ** 20);
    await backend.collectGarbage();
    const { fs: other } = await open(store);
    for (const [i, name] of names.entries()) {
      const bytes = await other.readFile(name);
      expect([bytes.length, bytes.every((byte) => byte === i)]).toEqual([250_000, true]);
    }
  });
});

describe('A reader beside a writer that commits before every request', () => {
  /** Opens a reader with an empty cache, and runs `before` ahead of each of its requests. */
  async function beside(before: (writer: ObjectTreeBackend, round: number) => Promise<void> = async () => {}) {
    const store: ObjectStore = new MemoryObjectStore();
    const writer = await open(store);
    await writer.fs.mkdir('/x/y', { recursive: true });
    await writer.fs.mkdir('/z');
    let rounds = 0;
    const write = async (): Promise<void> => {
      rounds += 1;
      const text = `${rounds} ${'x'.repeat(90_000)}`;
      await writer.fs.transaction(async (tx) => {
        await tx.writeFile('/x/y/one', text);
        await tx.writeFile('/z/two', text);
      });
      await before(writer.backend, rounds);
    };
    await write();
    const disturbed: ObjectStore = {
      get: (...what) => write().then(() => store.get(...what)),
      readHead: (known) => write().then(() => store.readHead(known)),
      put: (...what) => store.put(...what),
      delete: (names) => store.delete(names),
      list: (...what) => store.list(...what),
      swapHead: (...what) => store.swapHead(...what),
    };
    return { fs: (await open(disturbed)).fs, writer: writer.fs, rounds: () => rounds };
  }

  it('sees one state in a transaction, at the first attempt', async () => {
    const { fs, rounds } = await beside();
    let attempts = 0;
    const [one, two] = await fs.transaction(async (tx) => {
      attempts += 1;
      return [await tx.readText('/x/y/one'), await tx.readText('/z/two')];
    });
    expect(one).toBe(two);
    expect(attempts).toBe(1);
    expect(rounds()).toBeGreaterThan(2);
  });

  it('reads a snapshot and a diff from one state', async () => {
    const { fs, writer, rounds } = await beside();
    const copy = await openFileSystem(asyncStorage(new ObjectTreeBackend(new MemoryObjectStore())));
    await restoreSnapshot(copy, await createSnapshot(fs));
    expect(await copy.readText('/x/y/one')).toBe(await copy.readText('/z/two'));
    const checkpoint = await writer.checkpoint();
    const { changed } = await diff(fs, checkpoint);
    expect(changed.map(({ path }) => path)).toEqual(['/x/y/one', '/z/two']);
    expect(rounds()).toBeLessThan(40);
  });

  it('starts again if the state that it reads is collected', async () => {
    const { fs } = await beside(async (writer, round) => {
      if (round === 4) await writer.collectGarbage();
    });
    let attempts = 0;
    const [one, two] = await fs.transaction(async (tx) => {
      attempts += 1;
      return [await tx.readText('/x/y/one'), await tx.readText('/z/two')];
    });
    expect(one).toBe(two);
    expect(attempts).toBe(2);
  });
});

describe('Copies of directories', () => {
  const NAMES = Array.from({ length: 400 }, (_, i) => `file-${i}`);

  /** Returns the contents of a directory, and separately the ids, which differ in every copy. */
  async function look(fs: FileSystem, top: string) {
    const { entries } = await dump(fs);
    const beneath = entries.filter(({ path }) => path.startsWith(`${top}/`));
    const ids = await Promise.all(beneath.map(async ({ path }) => (await fs.lstat(path)).ino));
    return {
      ids,
      tree: beneath.map(({ path, kind, content }) => [path.slice(top.length), kind, content]),
    };
  }

  async function plant(fs: FileSystem): Promise<void> {
    await fs.mkdir('/d/deep/er', { recursive: true });
    await fs.transaction(async (tx) => {
      for (const name of NAMES) await tx.writeFile(`/d/${name}`, name);
      for (const name of NAMES) await tx.writeFile(`/d/deep/${name}`, name);
      await tx.symlink('../file-1', '/d/deep/er/link');
    });
  }

  it('are separate nodes, even copies of copies and of changed files', async () => {
    const store = new MemoryObjectStore();
    const { fs } = await open(store);
    await plant(fs);
    const original = await look(fs, '/d');
    await fs.cp('/d', '/one', { recursive: true });
    await fs.writeFile('/one/deep/file-7', 'changed');
    await fs.rm('/one/file-9');
    await fs.cp('/one', '/two', { recursive: true });
    await fs.writeFile('/two/deep/new', 'in a copy of a copy');
    for (const top of ['/3', '/4', '/5', '/6', '/7', '/8'])
      await fs.cp(top === '/3' ? '/two' : `/${Number(top[1]) - 1}`, top, { recursive: true });
    const { fs: other } = await open(store);
    expect(await look(other, '/d')).toEqual(original);
    const [one, two, eight] = [await look(other, '/one'), await look(other, '/two'), await look(other, '/8')];
    expect(one.tree.length).toBe(original.tree.length - 1);
    expect(two.tree.length).toBe(original.tree.length);
    expect(eight.tree).toEqual(two.tree);
    const all = [original, one, two, eight].flatMap(({ ids }) => ids);
    expect(new Set(all).size).toBe(all.length);
    expect(await other.readText('/8/deep/file-7')).toBe('changed');
    expect(await other.readlink('/8/deep/er/link')).toBe('../file-1');
  });

  it('stay unchanged when their originals are changed, removed and collected', async () => {
    const store = new MemoryObjectStore();
    const { fs, backend } = await open(store);
    await plant(fs);
    await fs.cp('/d', '/one', { recursive: true });
    const copied = await look(fs, '/one');
    const checkpoint = await fs.checkpoint();
    for (const name of NAMES.slice(0, 80)) await fs.writeFile(`/d/${name}`, 'changed');
    await fs.rm('/d', { recursive: true });
    await backend.collectGarbage();
    expect(await look((await open(store)).fs, '/one')).toEqual(copied);
    // Enough commits for two more small compactions.
    for (let i = 0; i < 140; i++) await fs.writeFile('/one/deep/er/log', `${i}`);
    await backend.collectGarbage();
    const { fs: other } = await open(store);
    await other.rm('/one/deep/er/log');
    expect(await look(other, '/one')).toEqual(copied);
    const { added, removed } = await diff(other, checkpoint);
    expect([added, removed.filter(({ path }) => !/^\/d(\/|$)/.test(path))]).toEqual([[], []]);
  });
});

describe('The reads of one batch', () => {
  /** Creates a directory of 3,000 names, a hundred per object, and a client that counts its reads. */
  async function scattered() {
    const store: ObjectStore = new MemoryObjectStore();
    const { fs } = await open(store);
    await fs.mkdir('/d');
    for (let part = 0; part < 30; part++)
      await fs.transaction(async (tx) => {
        for (let i = 0; i < 100; i++) await tx.writeFile(nameOf(part * 100 + i), `text ${part * 100 + i}`);
      });
    const seen = { gets: 0, rounds: 0 };
    let reading = 0;
    const observed: ObjectStore = {
      get: async (...what) => {
        seen.gets += 1;
        if (reading === 0) seen.rounds += 1;
        reading += 1;
        await new Promise((resolve) => setTimeout(resolve, 1));
        return store.get(...what).finally(() => {
          reading -= 1;
        });
      },
      put: (...what) => store.put(...what),
      delete: (names) => store.delete(names),
      list: (...what) => store.list(...what),
      readHead: (known) => store.readHead(known),
      swapHead: (...what) => store.swapHead(...what),
    };
    return { fs: (await open(observed)).fs, reader: (await open(store)).fs, seen };
  }

  const nameOf = (i: number): string => `/d/f${String(i).padStart(5, '0')}`;

  it('depend on what it changes in a directory that it copies, not on the number of names', async () => {
    const { fs, reader, seen } = await scattered();
    await fs.transaction(async (tx) => {
      await tx.writeFile(nameOf(5), 'changed before');
      await tx.mkdir('/d/new');
      await tx.rm(nameOf(2_500));
      await tx.cp('/d', '/copy', { recursive: true });
      await tx.writeFile('/copy/f00007', 'changed after');
    });
    expect(seen.gets).toBeLessThan(10);
    const names = await reader.readdir('/copy');
    expect(names.length).toBe(3_000);
    const some = names.filter((name, i) => name !== 'new' && (i < 300 || i % 50 === 0));
    const ids = await Promise.all(['/d', '/copy'].flatMap((at) => some.map((name) => reader.lstat(`${at}/${name}`))));
    expect(new Set(ids.map(({ ino }) => ino)).size).toBe(2 * some.length);
    const own: Readonly<Record<string, string>> = { f00005: 'changed before', f00007: 'changed after' };
    for (const name of some)
      expect(await reader.readText(`/copy/${name}`)).toBe(own[name] ?? `text ${Number(name.slice(1))}`);
    expect(await reader.readText(nameOf(7))).toBe('text 7');
  });

  it('run concurrently if it links a file in a directory and copies the directory', async () => {
    const { fs, reader, seen } = await scattered();
    await fs.transaction(async (tx) => {
      await tx.link(nameOf(5), '/d/other');
      await tx.cp('/d', '/copy', { recursive: true });
    });
    expect(seen.rounds).toBeLessThan(8);
    expect((await reader.readdir('/copy')).length).toBe(3_001);
    expect((await reader.lstat('/copy/other')).nlink).toBe(1);
  });
});

describe('Contents that several files share', () => {
  it('are moved once by a commit that compacts', async () => {
    const store = new MemoryObjectStore();
    const { fs } = await open(store);
    const bytes = 'x'.repeat(100_000);
    await fs.writeFile('/f', bytes);
    for (let i = 0; i < 10; i++) await fs.cp('/f', `/copy${i}`);
    const known = new Set(store.objects.keys());
    for (let i = 0; i < 70; i++) await fs.writeFile('/log', `${i}`);
    const sizes = [...store.objects].filter(([name]) => !known.has(name)).map(([, { length }]) => length);
    expect(Math.max(...sizes)).toBeGreaterThan(bytes.length);
    expect(Math.max(...sizes)).toBeLessThan(2 * bytes.length);
    expect(await (await open(store)).fs.readText('/copy9')).toBe(bytes);
  });
});

describe('Contents moved by a commit that loses its race', () => {
  it('stay readable to clients that have read them, although the new objects are collected', async () => {
    const store: ObjectStore = new MemoryObjectStore();
    let isMoved = false;
    let beforeSwap: (() => Promise<void>) | undefined;
    const watched: ObjectStore = {
      get: (...what) => store.get(...what),
      put: (name, bytes) => {
        isMoved ||= bytes.length > 4 * 2 ** 20;
        return store.put(name, bytes);
      },
      delete: (names) => store.delete(names),
      list: (...what) => store.list(...what),
      readHead: (known) => store.readHead(known),
      swapHead: async (...what) => {
        if (isMoved) await beforeSwap?.();
        return store.swapHead(...what);
      },
    };
    const { fs } = await open(watched);
    const names = Array.from({ length: 60 }, (_, i) => `/f${i}`);
    for (let i = 0; i < 6; i++)
      await Promise.all(
        names.slice(i * 10, i * 10 + 10).map((name) => fs.writeFile(name, new Uint8Array(250_000).fill(i + 1))),
      );
    isMoved = false;
    let races = 0;
    let deleted = 0;
    beforeSwap = async () => {
      isMoved = false;
      if (races++ > 0) return;
      deleted = (await (await open(store)).backend.collectGarbage()).deleted;
    };
    for (let i = 0; races === 0; i++) await fs.writeFile('/log', `${i}`);
    expect(deleted).toBeGreaterThan(1);
    for (const [i, name] of names.entries()) expect((await fs.readFile(name))[0]).toBe(Math.floor(i / 10) + 1);
  });
});

describe('Copies of copies that were changed', () => {
  const ROUNDS = 40;

  /** Creates versions, each a copy of the one before with one file changed. The other file is never changed. */
  async function plant(fs: FileSystem): Promise<void> {
    await fs.mkdir('/v0/lib/deep', { recursive: true });
    await fs.writeFile('/v0/lib/deep/file', 'lib', { mode: 0o640 });
    await fs.writeFile('/v0/main', '0');
    for (let i = 1; i <= ROUNDS; i++) {
      await fs.cp(`/v${i - 1}`, `/v${i}`, { recursive: true, preserveTimestamps: i % 3 > 0 });
      await fs.writeFile(`/v${i}/main`, `${i}`);
    }
  }

  /** Returns what a new client sees, with the ids of everything. */
  async function look(store: ObjectStore) {
    const { fs } = await open(store);
    const { entries } = await dump(fs);
    const ids = await Promise.all(entries.map(async ({ path }) => (await fs.lstat(path)).ino));
    const times = await Promise.all(
      entries.filter(({ path }) => path.endsWith('/file')).map(async ({ path }) => fs.lstat(path)),
    );
    return {
      ids,
      contents: entries.map(({ path, kind, content }) => [path, kind, content]),
      times: times.map(({ atime, mtime, ctime, mode, ino }) => ({ atime, mtime, ctime, mode, ino })),
    };
  }

  it('are read, written, collected and compacted, however many are nested', async () => {
    const store = new MemoryObjectStore();
    const { fs, backend } = await open(store);
    await plant(fs);
    const before = await look(store);
    expect(before.ids.length).toBe(5 * (ROUNDS + 1) + 1);
    expect(new Set(before.ids).size).toBe(before.ids.length);
    const { fs: other } = await open(store);
    for (let i = 0; i <= ROUNDS; i++)
      expect([await other.readText(`/v${i}/main`), await other.readText(`/v${i}/lib/deep/file`)]).toEqual([
        `${i}`,
        'lib',
      ]);
    await backend.collectGarbage();
    for (let i = 0; i < 70; i++) await fs.writeFile('/log', `${i}`);
    await fs.rm('/log');
    await backend.collectGarbage();
    expect(await look(store)).toEqual(before);
    await (await open(store)).fs.rm(`/v${ROUNDS}`, { recursive: true });
  });

  it('have the times that copying one by one gives them', async () => {
    let now = 1_000;
    const clock = () => now++;
    const store = new MemoryObjectStore();
    const far = await openFileSystem(asyncStorage(new ObjectTreeBackend(store), { clock }), { clock });
    const near = openFileSystem(new MemoryStorage(), { clock });
    for (const fs of [far, near] as const) {
      now = 1_000;
      await fs.mkdir('/v0/lib', { recursive: true });
      await fs.writeFile('/v0/lib/file', 'x', { mode: 0o640 });
      for (let i = 1; i <= 12; i++) {
        now = 10_000 * i;
        await fs.cp(`/v${i - 1}`, `/v${i}`, { recursive: true, preserveTimestamps: i % 4 > 0 });
        now = 10_000 * i + 5_000;
        await fs.writeFile(`/v${i}/main`, '');
      }
    }
    const { fs: other } = await open(store);
    for (let i = 1; i <= 12; i++) {
      const { mtime, ctime, birthtime, mode } = await near.lstat(`/v${i}/lib/file`);
      expect(await other.lstat(`/v${i}/lib/file`)).toMatchObject({ mtime, ctime, birthtime, mode });
    }
  });

  it('are not written one by one by a commit that compacts', async () => {
    const store = new MemoryObjectStore();
    const { fs } = await open(store);
    await fs.mkdir('/t0');
    await fs.writeFile('/t0/f', 'x'.repeat(1_000));
    // The last directory has 2^30 files under it, too many to read.
    for (let i = 1; i <= 30; i++) {
      await fs.mkdir(`/t${i}`);
      for (const name of ['x', 'y']) await fs.cp(`/t${i - 1}`, `/t${i}/${name}`, { recursive: true });
    }
    const known = new Set(store.objects.keys());
    for (let i = 0; i < 70; i++) await fs.writeFile('/log', `${i}`);
    const sizes = [...store.objects].filter(([name]) => !known.has(name)).map(([, bytes]) => bytes.length);
    expect(Math.max(...sizes)).toBeLessThan(20_000);
    const path = `/t30${'/x'.repeat(30)}/f`;
    await fs.writeFile(path, 'changed');
    const { fs: other } = await open(store);
    expect(await other.readText(path)).toBe('changed');
    expect(await other.readText(`/t30${'/y'.repeat(30)}/f`)).toBe('x'.repeat(1_000));
  });
});

describe('A client with maxStalenessMs', () => {
  it('reads the newest head if objects of an older one were collected', async () => {
    const store = new MemoryObjectStore();
    const writer = await open(store);
    await writer.fs.writeFile('/f', 'x'.repeat(100_000));
    const { fs: reader } = await open(store, { maxStalenessMs: 600_000 });
    expect((await reader.readdir('/')).length).toBe(1);
    await writer.fs.writeFile('/f', 'y'.repeat(100_000));
    await writer.backend.collectGarbage();
    let attempts = 0;
    const first = await reader.transaction(async (tx) => {
      attempts += 1;
      return (await tx.readText('/f')).charAt(0);
    });
    expect([first, attempts]).toEqual(['y', 2]);
  });
});

describe('A client that reads a new head', () => {
  it('reads the next one, however often, if files with several names are collected before they are read', async () => {
    const store: ObjectStore = new MemoryObjectStore();
    const writer = await open(store);
    await writer.fs.writeFile('/a', 'a');
    await writer.fs.link('/a', '/b');
    let rounds = 0;
    const get: ObjectStore['get'] = async (...what) => {
      rounds += 1;
      if (rounds < 8) {
        await writer.fs.writeFile('/a', `${rounds}`);
        await writer.backend.collectGarbage();
      }
      return store.get(...what);
    };
    const { fs } = await open(alteredStore(store, { get }));
    expect(await fs.readText('/a')).toBe('7');
  });

  it('fails with kind lost if objects are gone', async () => {
    const store = new MemoryObjectStore();
    const writer = await open(store);
    await writer.fs.writeFile('/a', 'a');
    await writer.fs.link('/a', '/b');
    store.objects.clear();
    await expect(open(store)).rejects.toMatchObject({ kind: 'lost' });
  });
});

describe('A closed storage', () => {
  it('keeps, lists, reads, restores and drops no checkpoints', async () => {
    const store = new MemoryObjectStore();
    const { fs, backend } = await open(store, { maxStalenessMs: 600_000 });
    const { id } = await fs.checkpoint('kept');
    await backend.close();
    const { checkpointStore } = backend;
    for (const call of [
      () => checkpointStore.create('another', 'another', 0, undefined),
      () => checkpointStore.list(),
      () => checkpointStore.load(id, [{ kind: 'path', path: '/', content: 0 }]),
      () => checkpointStore.restore(id, {}),
      () => checkpointStore.drop(id),
    ])
      await expect(call()).rejects.toMatchObject({ kind: 'closed' });
    expect((await (await open(store)).fs.checkpoints()).map(({ name }) => name)).toEqual(['kept']);
  });
});

describe('The object at the key of the head', () => {
  it('is refused if it is something else, and reported as lost if it disappears or becomes another filesystem', async () => {
    const foreign = new MemoryObjectStore();
    await foreign.swapHead(new TextEncoder().encode('{"hello": 1}'), undefined);
    await expect(open(foreign)).rejects.toMatchObject({ kind: 'corrupt' });
    const store = new MemoryObjectStore();
    const { fs } = await open(store);
    await fs.writeFile('/f', 'x');
    const other = new MemoryObjectStore();
    await (await open(other)).fs.writeFile('/g', 'y');
    const head = await other.readHead(undefined);
    const tag = await store.readHead(undefined);
    if (typeof head !== 'object' || typeof tag !== 'object') throw new Error('there are two heads');
    await store.swapHead(head.bytes, tag.tag);
    await expect(fs.readText('/f')).rejects.toMatchObject({ kind: 'lost' });
  });

  it('is not created with create: false', async () => {
    await expect(open(new MemoryObjectStore(), { create: false })).rejects.toMatchObject({ kind: 'lost' });
  });
});

describe('Garbage', () => {
  it('is exactly what was replaced, removed or dropped', async () => {
    const store = new MemoryObjectStore();
    const { fs, backend } = await open(store);
    await fs.writeFile('/kept', 'a'.repeat(1_000));
    for (let i = 0; i < 20; i++) await fs.writeFile('/replaced', `${i}`);
    const checkpoint = await fs.checkpoint();
    await fs.rm('/kept');
    const before = store.objects.size;
    const { deleted, live } = await backend.collectGarbage();
    expect(deleted).toBeGreaterThan(15);
    expect([store.objects.size, live]).toEqual([before - deleted, before - deleted]);
    expect((await backend.collectGarbage()).deleted).toBe(0);
    await fs.rollback(checkpoint);
    expect(await fs.readText('/kept')).toBe('a'.repeat(1_000));
    expect((await dump((await open(store)).fs)).stats.fileCount).toBe(2);
  });

  it('stays for olderThanMs from when it was found', async () => {
    const store = new MemoryObjectStore();
    let now = 1_000;
    const { fs, backend } = await open(store, { clock: () => now });
    for (let i = 0; i < 10; i++) await fs.writeFile('/f', `${i}`);
    const first = await backend.collectGarbage({ olderThanMs: 500 });
    expect([first.deleted, first.waiting > 5]).toEqual([0, true]);
    now += 499;
    expect((await backend.collectGarbage({ olderThanMs: 500 })).deleted).toBe(0);
    now += 1;
    expect((await backend.collectGarbage({ olderThanMs: 500 })).deleted).toBe(first.waiting);
    expect([...store.objects.keys()].filter((name) => name.startsWith('trash/'))).toEqual([]);
    expect(await fs.readText('/f')).toBe('9');
  });

  it("excludes what forks read or wrote; only the filesystem's own objects are collected", async () => {
    const store = new MemoryObjectStore();
    const { fs, backend } = await open(store);
    await fs.writeFile('/f', 'beneath');
    const fork = await backend.fork();
    const forked = await openFileSystem(asyncStorage(fork));
    await forked.writeFile('/g', 'above');
    const nested = await openFileSystem(asyncStorage((await fork.fork?.()) ?? fork));
    await fs.rm('/f');
    await backend.collectGarbage();
    expect([await forked.readText('/f'), await forked.readText('/g'), await nested.readText('/g')]).toEqual([
      'beneath',
      'above',
      'above',
    ]);
    await fork.close();
    await backend.collectGarbage();
    expect([await nested.readText('/f'), await nested.readText('/g')]).toEqual(['beneath', 'above']);
    await expect((fork as ObjectTreeBackend).collectGarbage()).rejects.toMatchObject({ kind: 'closed' });
  });
});
