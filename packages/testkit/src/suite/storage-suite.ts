import type { AsyncStorage, CallOptions, FileEntry, FileSystemStats, NewEntry, Storage } from '@scratchfs/core';
import { HOSTILE_NAMES } from '../names.js';
import { equal, ok, rejects } from './assert.js';
import { collect, type ManualClock, manualClock, utf8 } from './context.js';
import type { TestRunner } from './runner.js';

export interface StorageSuiteOptions {
  /** `describe` and `it` of any test runner. */
  readonly test: TestRunner;
  /** Creates an empty storage. Times that an entry does not give come from the clock. */
  readonly create: (options: { readonly clock: () => number }) => Storage | Promise<Storage>;
  /** Name of the group of tests. Default `Storage`. */
  readonly name?: string | undefined;
}

/** The synchronous and the promise form of a storage behind one set of methods. */
interface Subject {
  readonly storage: Storage;
  get(path: string): Promise<FileEntry | undefined>;
  set(entry: NewEntry): Promise<void>;
  delete(path: string): Promise<boolean>;
  exists(path: string): Promise<boolean>;
  paths(prefix?: string): Promise<string[]>;
  children(path: string): Promise<string[]>;
  clear(): Promise<void>;
  entries(): Promise<FileEntry[]>;
  setMany(entries: Iterable<NewEntry>): Promise<void>;
  stats(): Promise<FileSystemStats>;
}

interface StorageContext {
  readonly storage: Subject;
  readonly clock: ManualClock;
  /** Expects an error with one of these codes or names, and no change. */
  fails(call: () => Promise<unknown>, ...names: readonly string[]): Promise<void>;
}

/** Tests that every `Storage` must pass, synchronous or not: its operations, with their order, atomicity and counts. */
export function storageSuite({ test, create, name = 'Storage' }: StorageSuiteOptions): void {
  const add = (title: string, run: (context: StorageContext) => Promise<void>): void => {
    test.it(title, async () => {
      const clock = manualClock();
      const raw = await create({ clock: clock.read });
      const storage = subjectOf(raw);
      try {
        await run({ storage, clock, fails: (call, ...names) => failsUnchanged(storage, call, names) });
        await checkStats(storage);
      } finally {
        await raw.close();
      }
    });
  };
  test.describe(name, () => {
    test.describe('entries', () => entryCases(add));
    test.describe('listings', () => listingCases(add));
    test.describe('batches', () => batchCases(add));
    test.describe('aliasing', () => aliasingCases(add));
    test.describe('signals', () => signalCases(add));
  });
}

type AddStorage = (title: string, run: (context: StorageContext) => Promise<void>) => void;

function entryCases(add: AddStorage): void {
  add('a new storage has only its root', async ({ storage }) => {
    equal(await storage.paths(), []);
    equal(await storage.entries(), []);
    equal(await storage.children('/'), []);
    equal(await storage.exists('/'), true);
    equal((await storage.get('/'))?.kind, 'directory');
    equal(await storage.stats(), { totalSize: 0, fileCount: 0, directoryCount: 0, nodeCount: 0 });
  });

  add('an entry is visible immediately after it was set', async ({ storage }) => {
    for (let i = 0; i < 5; i++) {
      await storage.set({ path: `/f${i}`, content: `content ${i}` });
      equal((await storage.get(`/f${i}`))?.content, utf8(`content ${i}`));
      equal(await storage.exists(`/f${i}`), true);
    }
    await storage.set({ path: '/f0', content: 'replaced' });
    equal((await storage.get('/f0'))?.content, utf8('replaced'));
    equal(await storage.paths(), ['/f0', '/f1', '/f2', '/f3', '/f4']);
  });

  add('get returns every field that was set', async ({ storage }) => {
    const fields = { mode: 0o4751, uid: 7, gid: 8, createdAt: 1, modifiedAt: 2, changedAt: 3, accessedAt: 4 };
    const modes = { file: 0o640, directory: 0o710, symlink: 0o777 };
    await storage.set({ path: '/f', content: utf8('héllo'), ...fields });
    await storage.set({ path: '/d', kind: 'directory', ...fields, mode: modes.directory });
    await storage.set({ path: '/l', kind: 'symlink', target: '../x', ...fields, mode: modes.symlink });
    const rest = { ...fields, links: 1 };
    equal(await storage.get('/f'), {
      name: 'f',
      path: '/f',
      kind: 'file',
      isDirectory: false,
      size: 6,
      content: utf8('héllo'),
      ...rest,
    });
    equal(await storage.get('/d'), {
      name: 'd',
      path: '/d',
      kind: 'directory',
      isDirectory: true,
      size: 0,
      content: utf8(''),
      ...rest,
      mode: modes.directory,
    });
    equal(await storage.get('/l'), {
      name: 'l',
      path: '/l',
      kind: 'symlink',
      isDirectory: false,
      size: 4,
      target: '../x',
      content: utf8(''),
      ...rest,
      mode: modes.symlink,
    });
  });

  add('modes survive a set of the same entry and a set of its neighbours', async ({ storage }) => {
    for (const mode of [0o000, 0o600, 0o755, 0o777, 0o7777]) {
      await storage.set({ path: `/m${mode}`, content: 'x', mode });
      await storage.set({ path: '/neighbour', content: String(mode) });
      equal((await storage.get(`/m${mode}`))?.mode, mode);
    }
  });

  add('defaults: kind by isDirectory and target, modes, the time of the clock', async ({ storage, clock }) => {
    await storage.set({ path: '/f' });
    await storage.set({ path: '/d', isDirectory: true });
    await storage.set({ path: '/l', target: 'f' });
    const [f, d, l] = [await storage.get('/f'), await storage.get('/d'), await storage.get('/l')];
    equal([f?.kind, d?.kind, l?.kind], ['file', 'directory', 'symlink']);
    equal([f?.mode, d?.mode, l?.mode], [0o644, 0o755, 0o777]);
    equal([f?.createdAt, d?.modifiedAt, l?.changedAt], [clock.now, clock.now, clock.now]);
  });

  add('get returns undefined for a missing entry, and delete returns false', async ({ storage }) => {
    await storage.set({ path: '/f' });
    for (const path of ['/missing', '/missing/x', '/f/x']) {
      equal(await storage.get(path), undefined, path);
      equal(await storage.exists(path), false, path);
      equal(await storage.delete(path), false, path);
    }
  });

  add('delete removes one entry and returns true', async ({ storage }) => {
    await storage.setMany([
      { path: '/d', kind: 'directory' },
      { path: '/d/f', content: '1' },
      { path: '/d/g', content: '22' },
    ]);
    equal(await storage.delete('/d/f'), true);
    equal(await storage.exists('/d/f'), false);
    equal(await storage.paths(), ['/d', '/d/g']);
    equal((await storage.stats()).totalSize, 2);
  });

  add('set under a missing parent or under a file is refused', async ({ storage, fails }) => {
    await storage.set({ path: '/f' });
    await fails(() => storage.set({ path: '/missing/x' }), 'ENOENT');
    await fails(() => storage.set({ path: '/missing/x/y', kind: 'directory' }), 'ENOENT');
    await fails(() => storage.set({ path: '/f/x' }), 'ENOTDIR', 'ENOENT');
  });

  add('delete of a directory with children is refused', async ({ storage, fails }) => {
    await storage.setMany([
      { path: '/d', kind: 'directory' },
      { path: '/d/e', kind: 'directory' },
      { path: '/d/e/f', content: 'x' },
    ]);
    await fails(() => storage.delete('/d'), 'ENOTEMPTY');
    await fails(() => storage.delete('/d/e'), 'ENOTEMPTY');
    equal((await storage.get('/d/e/f'))?.content, utf8('x'));
    await storage.delete('/d/e/f');
    equal(await storage.delete('/d/e'), true);
    equal(await storage.delete('/d'), true);
    equal(await storage.paths(), []);
  });

  add('the root cannot be deleted or replaced by a file', async ({ storage, fails }) => {
    await fails(() => storage.delete('/'), 'EBUSY', 'ENOTEMPTY', 'EPERM');
    await fails(() => storage.set({ path: '/', content: 'x' }), 'EEXIST');
  });

  add('a directory that is set again keeps its children', async ({ storage }) => {
    await storage.setMany([
      { path: '/d', kind: 'directory' },
      { path: '/d/f', content: 'x' },
    ]);
    await storage.set({ path: '/d', kind: 'directory', mode: 0o700 });
    equal(await storage.children('/d'), ['f']);
    equal((await storage.get('/d'))?.mode, 0o700);
  });

  add('the kind of an entry cannot be changed', async ({ storage, fails }) => {
    await storage.setMany([{ path: '/d', kind: 'directory' }, { path: '/f' }, { path: '/l', target: 'f' }]);
    await fails(() => storage.set({ path: '/d', content: 'x' }), 'EEXIST');
    await fails(() => storage.set({ path: '/f', kind: 'directory' }), 'EEXIST');
    await fails(() => storage.set({ path: '/l', content: 'x' }), 'EEXIST');
    await fails(() => storage.set({ path: '/f', target: 'x' }), 'EEXIST');
  });

  add('links are not followed', async ({ storage, fails }) => {
    await storage.setMany([{ path: '/d', kind: 'directory' }, { path: '/d/f' }, { path: '/l', target: 'd' }]);
    equal((await storage.get('/l'))?.target, 'd');
    equal(await storage.get('/l/f'), undefined);
    await fails(() => storage.children('/l'), 'ENOTDIR');
    await fails(() => storage.set({ path: '/l/g' }), 'ENOTDIR', 'ENOENT');
  });

  add('paths are normalized; NUL, lone surrogates and too long names are refused', async ({ storage, fails }) => {
    await storage.set({ path: 'a' });
    equal((await storage.get('\\a/'))?.path, '/a');
    await storage.set({ path: '/x/../b/' });
    equal(await storage.paths(), ['/a', '/b']);
    await fails(() => storage.set({ path: '/a\0' }), 'TypeError');
    await fails(() => storage.set({ path: '/\ud800' }), 'EINVAL');
    await fails(() => storage.set({ path: `/${'n'.repeat(256)}` }), 'ENAMETOOLONG');
    await fails(() => storage.set({ path: '' }), 'ENOENT');
    await fails(() => storage.set({ path: 5 as never }), 'TypeError');
    await fails(() => storage.set(null as never), 'TypeError');
    await fails(() => storage.set({ path: '/c', content: 5 as never }), 'TypeError');
    await fails(() => storage.set({ path: '/c', mode: -1 }), 'RangeError');
    for (const time of [Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 1, -1e300])
      await fails(() => storage.set({ path: '/c', modifiedAt: time }), 'RangeError');
    await fails(() => storage.set({ path: '/c', kind: 'socket' as never }), 'TypeError');
  });

  add('hostile names are ordinary names', async ({ storage }) => {
    for (const name of HOSTILE_NAMES) await storage.set({ path: `/${name}`, content: name });
    for (const name of HOSTILE_NAMES) equal((await storage.get(`/${name}`))?.content, utf8(name), JSON.stringify(name));
    equal((await storage.children('/')).length, HOSTILE_NAMES.length);
    for (const name of HOSTILE_NAMES) equal(await storage.delete(`/${name}`), true);
    equal(await storage.get('/__proto__'), undefined);
    equal((await storage.stats()).nodeCount, 0);
  });

  add('all byte values and large contents are returned unchanged', async ({ storage }) => {
    for (const size of [0, 1, 256, 5_000, 70_000, 300_000]) {
      const content = Uint8Array.from({ length: size }, (_, i) => (i + (i >> 8)) & 0xff);
      await storage.set({ path: '/f', content });
      equal((await storage.get('/f'))?.content, content, `${size} bytes`);
      equal((await storage.get('/f'))?.size, size);
    }
  });
}

function listingCases(add: AddStorage): void {
  add('children are names, sorted by UTF-8 bytes', async ({ storage, fails }) => {
    const sorted = ['-', '10', '2', 'A', 'B', '_', 'a', 'a b', 'a-', 'aa', 'é', '\ue000', '\uffee', '😀', '𝒳'];
    sorted.sort((a, b) =>
      [...a][0]?.codePointAt(0) === [...b][0]?.codePointAt(0)
        ? a < b
          ? -1
          : 1
        : (a.codePointAt(0) as number) - (b.codePointAt(0) as number),
    );
    await storage.set({ path: '/d', kind: 'directory' });
    for (const name of [...sorted].reverse()) await storage.set({ path: `/d/${name}` });
    equal(await storage.children('/d'), sorted);
    equal(await storage.paths('/d'), ['/d', ...sorted.map((name) => `/d/${name}`)]);
    equal(
      (await storage.entries()).map((entry) => entry.path),
      ['/d', ...sorted.map((name) => `/d/${name}`)],
    );
    await fails(() => storage.children('/missing'), 'ENOENT');
    await fails(() => storage.children('/d/a'), 'ENOTDIR');
  });

  add("paths come parents first, and each directory's names together", async ({ storage }) => {
    await storage.setMany(
      ['/a', '/a/b', '/a/b/c', '/a.b', '/a b'].map(
        (path) => ({ path, kind: path === '/a/b/c' ? 'file' : 'directory' }) as const,
      ),
    );
    equal(await storage.paths(), ['/a', '/a/b', '/a/b/c', '/a b', '/a.b']);
    equal(await storage.paths('/'), ['/a', '/a/b', '/a/b/c', '/a b', '/a.b']);
  });

  add('a prefix matches whole segments: /sr never matches /src', async ({ storage }) => {
    await storage.setMany([
      { path: '/src', kind: 'directory' },
      { path: '/src/a' },
      { path: '/src2', kind: 'directory' },
      { path: '/src2/b' },
      { path: '/src.c' },
      { path: '/sr' },
    ]);
    equal(await storage.paths('/sr'), ['/sr']);
    equal(await storage.paths('/src'), ['/src', '/src/a']);
    equal(await storage.paths('/src/'), ['/src', '/src/a']);
    equal(await storage.paths('/src/a'), ['/src/a']);
    equal(await storage.paths('/s'), []);
    equal(await storage.paths('/src/a/b'), []);
  });

  add('entries returns every entry as get does', async ({ storage }) => {
    await storage.setMany([
      { path: '/d', kind: 'directory' },
      { path: '/d/f', content: 'x' },
      { path: '/l', target: 'd' },
    ]);
    const entries = await storage.entries();
    equal(
      entries.map((entry) => entry.path),
      await storage.paths(),
    );
    for (const entry of entries) equal(entry, await storage.get(entry.path));
  });

  add('clear removes everything but the root, and the storage stays usable', async ({ storage }) => {
    await storage.setMany([
      { path: '/d', kind: 'directory' },
      { path: '/d/f', content: 'x' },
    ]);
    await storage.clear();
    equal(await storage.paths(), []);
    equal(await storage.exists('/'), true);
    equal(await storage.get('/d/f'), undefined);
    equal(await storage.stats(), { totalSize: 0, fileCount: 0, directoryCount: 0, nodeCount: 0 });
    await storage.set({ path: '/f', content: 'new' });
    equal(await storage.paths(), ['/f']);
  });

  add('statistics follow every change', async ({ storage }) => {
    const expect = async (totalSize: number, fileCount: number, directoryCount: number): Promise<void> =>
      equal(await storage.stats(), { totalSize, fileCount, directoryCount, nodeCount: fileCount + directoryCount });
    await storage.set({ path: '/d', kind: 'directory' });
    await expect(0, 0, 1);
    await storage.set({ path: '/d/f', content: '12345' });
    await expect(5, 1, 1);
    await storage.set({ path: '/d/f', content: '1' });
    await expect(1, 1, 1);
    await storage.set({ path: '/l', target: 'é' });
    await expect(3, 2, 1);
    await storage.set({ path: '/l', target: 'longer' });
    await expect(7, 2, 1);
    await storage.setMany([
      { path: '/d/f', content: '123' },
      { path: '/g', content: '12' },
    ]);
    await expect(11, 3, 1);
    await storage.delete('/d/f');
    await expect(8, 2, 1);
    await storage.delete('/d');
    await expect(8, 2, 0);
    await storage.clear();
    await expect(0, 0, 0);
  });
}

function batchCases(add: AddStorage): void {
  add('setMany takes entries in any order', async ({ storage }) => {
    await storage.setMany([
      { path: '/a/b/c', content: 'x' },
      { path: '/a/b', kind: 'directory' },
      { path: '/a', kind: 'directory' },
    ]);
    equal(await storage.paths(), ['/a', '/a/b', '/a/b/c']);
    await storage.setMany([]);
    await storage.setMany(new Set([{ path: '/z', content: 'any iterable' }]));
    equal((await storage.get('/z'))?.size, 12);
  });

  add('setMany is all or nothing, wherever the invalid entry is', async ({ storage, fails }) => {
    await storage.setMany([
      { path: '/d', kind: 'directory' },
      { path: '/f', content: 'old' },
    ]);
    const good = [
      { path: '/f', content: 'new' },
      { path: '/n1', content: '1' },
      { path: '/n2', content: '2' },
      { path: '/d/x' },
    ];
    const bad: readonly [NewEntry, ...string[]][] = [
      [{ path: '/missing/x' }, 'ENOENT'],
      [{ path: '/f/x' }, 'ENOTDIR', 'ENOENT'],
      [{ path: '/d', content: 'not a file' }, 'EEXIST'],
      [{ path: '/n1', content: 'twice' }, 'EINVAL'],
      [{ path: '/x/../n2/' }, 'EINVAL'],
      [{ path: '/\ud800' }, 'EINVAL'],
      [{ path: '/zzz', mode: 1.5 }, 'RangeError'],
      [{ path: '/zzz', content: 5 as never }, 'TypeError'],
      [null as never, 'TypeError'],
    ];
    for (const [entry, ...names] of bad) {
      for (let at = 0; at <= good.length; at++) {
        await fails(() => storage.setMany([...good.slice(0, at), entry, ...good.slice(at)]), ...names);
      }
    }
    await storage.setMany(good);
    equal(await storage.paths(), ['/d', '/d/x', '/f', '/n1', '/n2']);
  });

  add('setMany whose iterable throws changes nothing', async ({ storage, fails }) => {
    await fails(
      () =>
        storage.setMany(
          (function* () {
            yield { path: '/a' };
            throw new Error('broken');
          })(),
        ),
      'Error',
    );
  });

  add('a batch of 1,000 entries is stored completely', async ({ storage }) => {
    const entries = Array.from({ length: 1_000 }, (_, i) => ({ path: `/f${i}`, content: `${i}` }));
    await storage.setMany(entries);
    equal((await storage.stats()).fileCount, 1_000);
    for (const i of [0, 1, 499, 998, 999]) equal((await storage.get(`/f${i}`))?.content, utf8(`${i}`));
  });
}

function aliasingCases(add: AddStorage): void {
  for (const size of [6, 5_000, 100_000]) {
    add(`${size} bytes passed in or returned are not shared with the storage`, async ({ storage }) => {
      const expected = new Uint8Array(size).fill(1);
      const given = expected.slice();
      await storage.set({ path: '/f', content: given });
      given.fill(9);
      equal((await storage.get('/f'))?.content, expected, 'after set');
      const many = expected.slice();
      await storage.setMany([{ path: '/g', content: many }]);
      many.fill(9);
      equal((await storage.get('/g'))?.content, expected, 'after setMany');
      (await storage.get('/f'))?.content.fill(9);
      equal((await storage.get('/f'))?.content, expected, 'after get');
      for (const entry of await storage.entries()) entry.content.fill(9);
      equal((await storage.get('/g'))?.content, expected, 'after entries');
    });
  }

  add('a promise method reads the bytes at the call', async ({ storage }) => {
    const bytes = utf8('before');
    const setting = storage.set({ path: '/f', content: bytes });
    bytes.fill(0x78);
    await setting;
    equal((await storage.get('/f'))?.content, utf8('before'));
  });

  add('returned lists are not shared with the storage', async ({ storage }) => {
    await storage.setMany([{ path: '/a' }, { path: '/b' }]);
    (await storage.children('/')).length = 0;
    (await storage.paths()).push('/spoilt');
    equal(await storage.children('/'), ['a', 'b']);
    equal(await storage.paths(), ['/a', '/b']);
    equal((await storage.stats()).nodeCount, 2);
  });
}

function signalCases(add: AddStorage): void {
  const calls: Readonly<Record<string, (storage: AsyncStorage, options: CallOptions) => Promise<unknown>>> = {
    get: (storage, options) => storage.get('/f', options),
    set: (storage, options) => storage.set({ path: '/f', content: 'new' }, options),
    delete: (storage, options) => storage.delete('/f', options),
    exists: (storage, options) => storage.exists('/f', options),
    paths: (storage, options) => storage.paths('/', options),
    children: (storage, options) => storage.children('/', options),
    clear: (storage, options) => storage.clear(options),
    entries: (storage, options) => collect(storage.entries(options)),
    setMany: (storage, options) => storage.setMany([{ path: '/g' }], options),
    stats: (storage, options) => storage.stats(options),
  };
  for (const [method, call] of Object.entries(calls)) {
    add(`${method}() with an aborted signal rejects with its reason and changes nothing`, async ({ storage }) => {
      const raw = storage.storage;
      if (raw.kind !== 'async') return;
      await storage.set({ path: '/f', content: 'old' });
      const before = await storage.entries();
      const reason = new Error(`no ${method}`);
      let error: unknown;
      try {
        await call(raw, { signal: AbortSignal.abort(reason) });
      } catch (thrown) {
        error = thrown;
      }
      ok(error === reason, `${method}() ${error === undefined ? 'succeeded' : `rejected with ${String(error)}`}`);
      equal(await storage.entries(), before);
    });
  }
}

function subjectOf(storage: Storage): Subject {
  const call = <T>(work: () => T | Promise<T>): Promise<T> => {
    // A synchronous storage throws instead of rejecting; it must use the arguments now.
    try {
      return Promise.resolve(work());
    } catch (error) {
      return Promise.reject(error);
    }
  };
  return {
    storage,
    get: (path) => call(() => storage.get(path)),
    set: (entry) => call(() => storage.set(entry)),
    delete: (path) => call(() => storage.delete(path)),
    exists: (path) => call(() => storage.exists(path)),
    paths: (prefix) => call(() => (prefix === undefined ? storage.paths() : storage.paths(prefix))),
    children: (path) => call(() => storage.children(path)),
    clear: () => call(() => storage.clear()),
    entries: async () => (storage.kind === 'sync' ? [...storage.entries()] : collect(storage.entries())),
    setMany: (entries) => call(() => storage.setMany(entries)),
    stats: () => call(() => storage.stats()),
  };
}

async function failsUnchanged(storage: Subject, call: () => Promise<unknown>, names: readonly string[]): Promise<void> {
  const before = await storage.entries();
  await rejects(call, ...names);
  equal(await storage.entries(), before, 'the entries after a refused call');
  await checkStats(storage);
}

async function checkStats(storage: Subject): Promise<void> {
  const entries = await storage.entries();
  const directoryCount = entries.filter((entry) => entry.isDirectory).length;
  const totalSize = entries.reduce((sum, entry) => sum + entry.size, 0);
  const counted = { totalSize, fileCount: entries.length - directoryCount, directoryCount, nodeCount: entries.length };
  equal({ ...(await storage.stats()) }, counted, 'stats against a recount');
  for (const entry of entries) {
    const parent = entry.path.slice(0, entry.path.lastIndexOf('/')) || '/';
    ok((await storage.get(parent))?.isDirectory === true, `${entry.path} has no parent`);
  }
}
