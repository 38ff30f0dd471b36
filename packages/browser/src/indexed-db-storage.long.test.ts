import 'fake-indexeddb/auto';
import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import {
  backendSuite,
  type CreateOptions,
  type FileSystemSuiteOptions,
  fileSystemSuite,
  objectStoreFaults,
  objectStoreSuite,
  storageSuite,
  workingCopySuite,
} from '@scratchfs/testkit';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { IndexedDbObjectStore } from './indexed-db-object-store.js';
import { IndexedDbStorage } from './indexed-db-storage.js';
import type { IndexedDbStorageOptions } from './options.js';

const HISTORIES = Number(process.env['INDEXEDDB_HISTORIES'] ?? 1);
/**
 * Sections of the suite. A short run leaves out those that test the code above the store, because they are slow here.
 */
const SECTIONS: FileSystemSuiteOptions['sections'] =
  HISTORIES > 1
    ? undefined
    : ['files', 'handles', 'rename', 'limits', 'checkpoints', 'transactions', 'watch', 'streams'];

let made = 0;
const newName = (): string => `fs-${made++}`;
const newStore = (): IndexedDbObjectStore => new IndexedDbObjectStore('scratchfs', newName(), false);

describe('IndexedDbStorage', () => {
  const test = { describe, it: (name: string, body: () => Promise<void>) => it(name, body) };
  objectStoreSuite({
    test,
    methods: ['commit', 'watch', 'deleteHead'],
    watchTimeoutMs: 60_000,
    open: (place) => new IndexedDbObjectStore('stores', place, false),
  });
  backendSuite({ test, create: () => new ObjectTreeBackend(newStore()) });
  storageSuite({ test, create: ({ clock }) => new IndexedDbStorage(newName(), { clock }) });
  workingCopySuite({
    test,
    histories: HISTORIES,
    create: () => {
      const name = newName();
      return { ours: new IndexedDbStorage(name), theirs: new IndexedDbStorage(name) };
    },
  });
  const create = ({ clock, limits }: CreateOptions): Promise<FileSystem> =>
    openFileSystem(new IndexedDbStorage(newName(), { clock }), { clock, limits });
  fileSystemSuite({ test, create, sections: SECTIONS });
});

describe('An IndexedDB whose requests fail', () => {
  it('leaves the state that was reported', async () => {
    const { faults, problems } = await objectStoreFaults({ create: newStore, every: 61 });
    expect(problems).toEqual([]);
    expect(faults).toBeGreaterThan(5);
  });
});

describe('IndexedDbStorage in an origin', () => {
  it('holds several filesystems by name, which are listed and destroyed', async () => {
    const place = { database: 'several' };
    expect(await IndexedDbStorage.list(place)).toEqual([]);
    expect((await indexedDB.databases()).map(({ name }) => name)).not.toContain('several');
    const one = new IndexedDbStorage('one', place);
    const fs = await openFileSystem(one);
    await fs.writeFile('/a', '1');
    const other = await openFileSystem(new IndexedDbStorage('other', place));
    await other.writeFile('/a', '2');
    expect(await IndexedDbStorage.list(place)).toEqual(['one', 'other']);
    await one.destroy();
    expect(await IndexedDbStorage.list(place)).toEqual(['other']);
    expect(await other.readText('/a')).toBe('2');
    const again = await openFileSystem(new IndexedDbStorage('one', place));
    expect(await again.readdir('/')).toEqual([]);
  });

  it('creates no database by a look at one', async () => {
    const storage = new IndexedDbStorage('main', { database: 'absent', create: false });
    await expect(openFileSystem(storage)).rejects.toMatchObject({ kind: 'lost' });
    expect((await indexedDB.databases()).map(({ name }) => name)).not.toContain('absent');
  });

  it('keeps files, checkpoints and limits', async () => {
    const first = new IndexedDbStorage('kept');
    const fs = await openFileSystem(first, { limits: { maxNodeCount: 50 } });
    await fs.writeFile('/a.txt', 'one');
    await fs.checkpoint('before');
    await fs.writeFile('/a.txt', 'two');
    await first.close();
    await expect(fs.readText('/a.txt')).rejects.toMatchObject({ kind: 'closed' });
    const again = await openFileSystem(new IndexedDbStorage('kept'), { limits: 'stored' });
    expect(again.limits).toEqual({ maxNodeCount: 50 });
    expect(await again.readText('/a.txt')).toBe('two');
    await again.rollback('before');
    expect(await again.readText('/a.txt')).toBe('one');
  });

  it('leaves the database to another tab that deletes it, and is lost then', async () => {
    const place = { database: 'deleted' };
    const fs = await openFileSystem(new IndexedDbStorage('main', place));
    await fs.writeFile('/a', 'x');
    const next = fs.watch('/')[Symbol.asyncIterator]().next();
    const failure = expect(next).rejects.toMatchObject({ kind: 'lost' });
    expect(await settled(indexedDB.deleteDatabase('deleted'))).toBe('success');
    await failure;
    await expect(fs.readText('/a')).rejects.toMatchObject({ kind: 'lost' });
    await expect(fs.writeFile('/a', 'y')).rejects.toMatchObject({ cause: { kind: 'lost' } });
    const fresh = await openFileSystem(new IndexedDbStorage('main', place));
    await fresh.writeFile('/a', 'new');
    await expect(fs.writeFile('/a', 'y')).rejects.toMatchObject({ kind: 'lost' });
    expect(await fresh.readText('/a')).toBe('new');
  });

  it('leaves the database to a newer version, and refuses that unchanged', async () => {
    const place = { database: 'newer' };
    const fs = await openFileSystem(new IndexedDbStorage('main', place));
    await fs.writeFile('/a', 'x');
    const request = indexedDB.open('newer', 2);
    expect(await settled(request)).toBe('success');
    const refused = { kind: 'version', message: /newer version.*or another program has/ };
    await expect(fs.readText('/a')).rejects.toMatchObject(refused);
    await expect(openFileSystem(new IndexedDbStorage('main', place))).rejects.toMatchObject(refused);
    await expect(IndexedDbStorage.list(place)).rejects.toMatchObject(refused);
    expect(request.result.version).toBe(2);
    request.result.close();
  });

  it('refuses a database of another program', async () => {
    const request = indexedDB.open('foreign', 1);
    expect(await settled(request)).toBe('success');
    request.result.close();
    const storage = new IndexedDbStorage('main', { database: 'foreign' });
    await expect(openFileSystem(storage)).rejects.toMatchObject({ kind: 'unsupported', message: /another program/ });
  });

  it('reports damaged values as corrupt', async () => {
    const place = { database: 'damaged' };
    const fs = await openFileSystem(new IndexedDbStorage('main', place));
    await fs.writeFile('/a', 'x');
    const request = indexedDB.open('damaged');
    await settled(request);
    const transaction = request.result.transaction('heads', 'readwrite');
    transaction.objectStore('heads').put({ tag: 'x', bytes: 'no bytes' }, 'main');
    await new Promise((resolve) => {
      transaction.oncomplete = resolve;
    });
    request.result.close();
    await expect(openFileSystem(new IndexedDbStorage('main', place))).rejects.toMatchObject({ kind: 'corrupt' });
  });

  it('tells watchers of the changes of another client', async () => {
    const [fs, other] = await Promise.all(
      [0, 1].map(() => openFileSystem(new IndexedDbStorage('watched'))) as [Promise<FileSystem>, Promise<FileSystem>],
    );
    const events = fs.watch('/')[Symbol.asyncIterator]();
    const next = events.next();
    await other.writeFile('/a', 'x');
    expect((await next).value).toEqual({ type: 'overflow', path: '/' });
    expect(await fs.readText('/a')).toBe('x');
    await events.return?.(undefined);
  });

  it('lets one of 20 racing writers win', async () => {
    const stores = Array.from({ length: 20 }, () => new IndexedDbObjectStore('races', 'main', false));
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
    const first = await stores[0]?.swapHead(bytes('first'), undefined);
    const won = await Promise.all(stores.map((store, i) => store.swapHead(bytes(`writer ${i}`), first)));
    const winners = won.flatMap((tag, i) => (tag === undefined ? [] : [i]));
    expect(winners.length).toBe(1);
    expect(await stores[1]?.readHead(undefined)).toEqual({
      tag: won[winners[0] as number],
      bytes: bytes(`writer ${winners[0]}`),
    });
  });

  it.each(['UnknownError', 'SecurityError'])(
    'is collected and destroyed where getDirectory() fails with an %s',
    async (name) => {
      const getDirectory = () => Promise.reject(new DOMException('not in a private window', name));
      vi.stubGlobal('navigator', { storage: { getDirectory } });
      onTestFinished(() => void vi.unstubAllGlobals());
      const place = { database: `private ${name}` };
      const storage = new IndexedDbStorage('one', place);
      const fs = await openFileSystem(storage);
      for (const text of ['1', '2']) await fs.writeFile('/a', text.repeat(100_000));
      expect((await storage.collectGarbage()).deleted).toBeGreaterThan(0);
      expect(await fs.readText('/a')).toBe('2'.repeat(100_000));
      await storage.destroy();
      expect(await IndexedDbStorage.list(place)).toEqual([]);
    },
  );

  it.each([
    ['../x', {}, /cannot be the name/],
    ['A', {}, /cannot be the name/],
    [5, {}, /name must be a text/],
    ['x', { durability: 'maybe' }, /must be "fsync" or "process"/],
    ['x', { database: '' }, /database must be a text/],
    ['x', { database: 'half \ud83d' }, /database must be a text, not empty and without single surrogates/],
    ['x', { databse: 'x' }, /databse/],
    ['x', { contents: 'files' }, /contents must be "database" or "opfs"/],
    ['x', { contents: 'opfs' }, /Only dedicated workers can write private files: use contents "opfs" in a worker/],
  ])('refuses the name %j with options %j', (name, options, message) => {
    expect(() => new IndexedDbStorage(name as string, options as IndexedDbStorageOptions)).toThrow(message);
  });
});

/** Resolves to the kind of the event with which a request ends, or `blocked`. */
function settled(request: IDBOpenDBRequest): Promise<string> {
  return new Promise((resolve) => {
    for (const kind of ['success', 'error', 'blocked']) request.addEventListener(kind, () => resolve(kind));
  });
}

it('tells of a lost connection if one of two watches with the same function is ended', async () => {
  const database = newName();
  const store = new IndexedDbObjectStore(database, 'main', false);
  await store.swapHead(new Uint8Array([1]), undefined);
  const changed = vi.fn();
  const [first, second] = [store.watch(changed), store.watch(changed)];
  first();
  const deleted = indexedDB.deleteDatabase(database);
  await new Promise((resolve) => {
    deleted.onsuccess = resolve;
  });
  expect(changed).toHaveBeenCalledTimes(1);
  second();
  await store.close();
});
