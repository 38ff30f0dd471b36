import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { type SqliteDatabase, SqliteStorage, type SqliteStorageOptions } from '@scratchfs/sql';
import { backendSuite, fileSystemSuite, storageSuite, workingCopySuite } from '@scratchfs/testkit';
import Libsql from 'libsql';
import { afterAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../packages/sql/src/sqlite-database.js';
import { SqliteObjectStore } from '../../packages/sql/src/sqlite-object-store.js';
import { killOnCounter, raceOnCounter } from './counting-clients.js';

// Memory is enough here: the tests do not stop the machine.
const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'scratchfs-sqlite-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let made = 0;
const newFile = (): string => join(root, `${made++}.db`);
const openFile = (path: string): SqliteDatabase => new Libsql(path) as unknown as SqliteDatabase;
const storageIn = (path: string, options: SqliteStorageOptions = {}): SqliteStorage =>
  new SqliteStorage(path, { durability: 'process', ...options });

/** Returns the milliseconds of the longest turn of the event loop within some milliseconds. */
async function longestTurn(withinMs: number): Promise<number> {
  let longest = 0;
  for (let last = performance.now(), end = last + withinMs; last < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }
  return longest;
}

/** Reports whether an entry of `/proc/self/fd` is this file. */
const isOpen = (fd: string, path: string): boolean => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === path;
  } catch {
    return false;
  }
};

/** Clients that race, and kills of clients; a campaign has more. */
const WRITERS = Number(process.env['SQL_WRITERS'] ?? 4);
const INCREMENTS = WRITERS === 4 ? 25 : 100;
const KILLS = Number(process.env['SQL_KILLS'] ?? 4);
const LONG = { timeout: 60_000 + WRITERS * 30_000 + KILLS * 5_000 };

const test = { describe, it: (name: string, body: () => Promise<void>) => it(name, body) };
storageSuite({ test, name: 'Storage in SQLite', create: ({ clock }) => storageIn(newFile(), { clock }) });
fileSystemSuite({
  test,
  name: 'FileSystem in SQLite',
  create: ({ clock, limits }) => openFileSystem(storageIn(newFile(), { clock, maxCacheBytes: 0 }), { clock, limits }),
});
// A campaign also runs the suites of the code above the object store.
if (process.env['SCRATCHFS_TEST_EVERYTHING'] !== undefined) {
  backendSuite({
    test,
    name: 'Backend in SQLite',
    create: () => new ObjectTreeBackend(new SqliteObjectStore(() => openDatabase(newFile()), 'main', true, false)),
  });
  workingCopySuite({
    test,
    name: 'A working copy of SQLite',
    create: () => {
      const path = newFile();
      return { ours: storageIn(path), theirs: storageIn(path) };
    },
  });
}

describe('SqliteStorage', () => {
  it('holds several filesystems by name in one file, which are listed and destroyed', async () => {
    const path = newFile();
    const one = storageIn(path, { name: 'one' });
    const fs = await openFileSystem(one);
    await fs.writeFile('/a', '1');
    const other = await openFileSystem(new SqliteStorage(`sqlite:${path}?name=other`));
    await other.writeFile('/a', '2');
    expect(await SqliteStorage.list(path)).toEqual(['one', 'other']);
    await one.destroy();
    expect(await SqliteStorage.list(new URL(`file://${path}`))).toEqual(['other']);
    expect(await other.readText('/a')).toBe('2');
    const again = await openFileSystem(storageIn(path, { name: 'one' }));
    expect(await again.readdir('/')).toEqual([]);
    await Promise.all([fs.close(), other.close(), again.close()]);
  });

  it('gives no tag twice, also in a file that is created again or restored', async () => {
    const tags: unknown[] = [];
    for (let i = 0; i < 2; i++) {
      const store = new SqliteObjectStore(async () => openFile(':memory:'), 'one', true, false);
      const first = await store.swapHead(new Uint8Array([1]), undefined);
      tags.push(first, await store.swapHead(new Uint8Array([2]), first));
      await store.close();
    }
    expect([new Set(tags).size, tags.includes(undefined)]).toEqual([4, false]);
  });

  it('creates neither a file nor tables for a listing, and no file if create is false', async () => {
    const path = newFile();
    expect(await SqliteStorage.list(`sqlite:${path}`)).toEqual([]);
    const closed = openFileSystem(storageIn(path, { create: false }));
    await expect(closed).rejects.toMatchObject({ kind: 'lost', message: /does not exist, and create is false/ });
    expect(existsSync(path)).toBe(false);
    const other = openFile(path);
    other.exec('CREATE TABLE mine (x); CREATE TABLE scratchfs_notes (x); CREATE TABLE scratchfsXformat (x)');
    other.close();
    const { mtimeMs, size } = statSync(path);
    expect(await SqliteStorage.list(path)).toEqual([]);
    expect(statSync(path)).toMatchObject({ mtimeMs, size });
  });

  it.each([
    ['deleted', (path: string) => rmSync(path)],
    ['moved', (path: string) => renameSync(path, `${path}.old`)],
    [
      'replaced',
      (path: string) => {
        copyFileSync(path, `${path}.new`);
        renameSync(`${path}.new`, path);
      },
    ],
  ])('acknowledges no write after its file was %s while it was open', async (_, change) => {
    const path = newFile();
    const database = openFile(path);
    const fs = await openFileSystem(storageIn(path));
    const given = await openFileSystem(new SqliteStorage(database));
    await fs.writeFile('/f', 'x');
    change(path);
    const lost = {
      kind: 'lost',
      mayHaveHappened: false,
      message: /was deleted, moved or replaced while it was open/,
    };
    await expect(fs.writeFile('/f', 'y')).rejects.toMatchObject(lost);
    await expect(given.checkpoint()).rejects.toMatchObject(lost);
    await Promise.all([fs.close(), given.close()]);
    database.close();
  });

  it('rolls a write back if its file was moved before the commit, and says so', async () => {
    const path = newFile();
    const store = new SqliteObjectStore(async () => openFile(path), 'one', true, false);
    const tag = await store.swapHead(new Uint8Array([1]), undefined);
    const failures: object[] = [];
    const fail = (): Promise<unknown> =>
      Promise.allSettled([
        store.swapHead(new Uint8Array([2]), tag),
        store.readHead(undefined),
        new Promise((_, reject) => {
          const stop = store.watch(() => {}, reject);
          void pause(2_000).then(() => {
            stop();
            reject(new Error('watch() has not failed'));
          });
        }),
      ]).then((results) => failures.push(...results.map((result) => (result as PromiseRejectedResult).reason)));
    renameSync(path, `${path}.old`);
    await fail();
    // stat() fails.
    symlinkSync(path, path);
    await fail();
    const lost = { kind: 'lost', mayHaveHappened: false };
    const unknown = { kind: 'unavailable', mayHaveHappened: false, retryable: false, message: /ELOOP/ };
    expect(failures).toMatchObject([lost, lost, lost, unknown, unknown, unknown]);
    rmSync(path);
    renameSync(`${path}.old`, path);
    expect(await store.readHead(undefined)).toEqual({ tag, bytes: new Uint8Array([1]) });
    await store.close();
  });

  it('says that a write may have happened if its file was moved during the commit', async () => {
    const path = newFile();
    const database = openFile(path);
    let isMoving = false;
    const moving: SqliteDatabase = {
      prepare: (sql) => database.prepare(sql),
      close: () => database.close(),
      exec: (sql) => {
        database.exec(sql);
        if (isMoving && sql === 'COMMIT') renameSync(path, `${path}.old`);
      },
    };
    const store = new SqliteObjectStore(async () => moving, 'one', true, false);
    const tag = await store.swapHead(new Uint8Array([1]), undefined);
    isMoving = true;
    const lost = { kind: 'lost', mayHaveHappened: true };
    await expect(store.swapHead(new Uint8Array([2]), tag)).rejects.toMatchObject(lost);
    await store.close();
  });

  it('leaves a given connection open, and uses the tables that are there', async () => {
    const database = openFile(newFile());
    for (const text of ['one', 'two']) {
      const storage = new SqliteStorage(database, { durability: 'process' });
      const fs = await openFileSystem(storage);
      await fs.appendFile('/log', text);
      await storage.close();
    }
    const fs = await openFileSystem(new SqliteStorage(database));
    expect(await fs.readText('/log')).toBe('onetwo');
    await fs.close();
    database.close();
  });

  it('says that it is full, keeps what was written, and goes on when there is room', async () => {
    const db = openFile(newFile());
    const fs = await openFileSystem(new SqliteStorage(db));
    await fs.writeFile('/kept', 'text');
    // SQLite raises a limit below the current number of pages to that number, so the file can no longer grow.
    db.exec('PRAGMA max_page_count = 1');
    const refused = { kind: 'full', mayHaveHappened: false, message: /free some space/ };
    await expect(fs.writeFile('/large', new Uint8Array(1_000_000).fill(1))).rejects.toMatchObject(refused);
    expect([await fs.readdir('/'), await fs.readText('/kept')]).toEqual([['kept'], 'text']);
    db.exec('PRAGMA max_page_count = 100000');
    await fs.writeFile('/large', new Uint8Array(1_000_000).fill(1));
    expect(await fs.readdir('/')).toEqual(['kept', 'large']);
    await fs.close();
    db.close();
  });

  it('is denied to a connection that may not write, which reads on', async () => {
    const path = newFile();
    const owner = await openFileSystem(storageIn(path));
    await owner.writeFile('/f', 'kept');
    const db = openFile(path);
    const fs = await openFileSystem(new SqliteStorage(db));
    db.exec('PRAGMA query_only = 1');
    const refused = { kind: 'denied', mayHaveHappened: false, message: /check its path, owner and mode/ };
    await expect(fs.writeFile('/f', 'refused')).rejects.toMatchObject(refused);
    expect(await fs.readText('/f')).toBe('kept');
    db.exec('PRAGMA query_only = 0');
    await fs.writeFile('/f', 'changed');
    expect(await owner.readText('/f')).toBe('changed');
    await Promise.all([owner.close(), fs.close()]);
    db.close();
  });

  it('opens a file for reading by a connection that can only read, and says so of one without tables', async () => {
    const path = newFile();
    const owner = await openFileSystem(storageIn(path));
    await owner.writeFile('/f', 'kept');
    const checkpoint = await owner.checkpoint();
    const readOnly = (file: string): SqliteDatabase => {
      const database = openFile(file);
      database.exec('PRAGMA query_only = 1');
      return database;
    };
    const db = readOnly(path);
    const fs = await openFileSystem(new SqliteStorage(db));
    expect([await fs.readText('/f'), await SqliteStorage.list(db)]).toEqual(['kept', ['default']]);
    await owner.writeFile('/f', 'changed');
    expect(await fs.readText('/f')).toBe('changed');
    expect(await (await fs.at(checkpoint)).readText('/f')).toBe('kept');
    await expect(fs.rm('/f')).rejects.toMatchObject({ kind: 'denied', mayHaveHappened: false });
    await expect(openFileSystem(new SqliteStorage(db, { name: 'other' }))).rejects.toMatchObject({ kind: 'denied' });
    const other = newFile();
    const owned = openFile(other);
    owned.exec('CREATE TABLE mine (x)');
    owned.close();
    const empty = readOnly(other);
    const message = /cannot be opened for writing: check its path, owner and mode/;
    await expect(openFileSystem(new SqliteStorage(empty))).rejects.toMatchObject({ kind: 'denied', message });
    await Promise.all([owner.close(), fs.close()]);
    for (const each of [db, empty]) each.close();
  });

  it('waits for the lock of another connection', async () => {
    const path = newFile();
    const fs = await openFileSystem(storageIn(path));
    await fs.writeFile('/a', 'x');
    const other = openFile(path);
    other.exec('BEGIN IMMEDIATE');
    setTimeout(() => other.exec('COMMIT'), 300);
    await fs.writeFile('/a', 'y');
    expect(await fs.readText('/a')).toBe('y');
    other.close();
    await fs.close();
  });

  it('does not block the event loop for a lock, and holds one connection while it waits to open', async () => {
    const path = newFile();
    const other = openFile(path);
    other.exec('CREATE TABLE other (x); BEGIN IMMEDIATE');
    const names = Array.from({ length: 20 }, (_, i) => `n${i}`);
    const opening = names.map((name) => openFileSystem(storageIn(path, { name })));
    // Other processes delay a turn too, so the best of several stretches counts.
    let longest = Number.POSITIVE_INFINITY;
    for (let stretch = 0; stretch < 6 && longest >= 150; stretch++) longest = await longestTurn(500);
    const handles = readdirSync('/proc/self/fd').filter((fd) => isOpen(fd, path)).length;
    other.exec('COMMIT');
    await Promise.all(opening.map(async (open) => (await open).close()));
    other.close();
    expect(handles).toBeLessThanOrEqual(1 + names.length);
    expect(longest).toBeLessThan(150);
  });

  it('opens nothing after close, and leaves a newer database as it is', async () => {
    const path = newFile();
    const storage = storageIn(path);
    const opening = openFileSystem(storage);
    await Promise.all([expect(opening).rejects.toThrow(/closed/), storage.close()]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(readdirSync('/proc/self/fd').filter((fd) => isOpen(fd, path))).toEqual([]);
    const newer = openFile(newFile());
    newer.exec('CREATE TABLE scratchfs_format (version INTEGER NOT NULL); INSERT INTO scratchfs_format VALUES (2)');
    await expect(openFileSystem(new SqliteStorage(newer))).rejects.toMatchObject({ kind: 'version' });
    expect(newer.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'delete' });
    newer.close();
  });

  it('keeps a connection flushed that two storages share, and the name in a URL', async () => {
    const database = openFile(newFile());
    for (const durability of ['fsync', 'process'] as const) {
      const fs = await openFileSystem(new SqliteStorage(database, { name: durability, durability }));
      expect(database.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 2 });
      await fs.close();
    }
    database.close();
    const path = newFile();
    const fs = await openFileSystem(storageIn(`sqlite:${path}?name=one`, { name: undefined }));
    await fs.close();
    expect(await SqliteStorage.list(path)).toEqual(['one']);
  });

  it('tells watchers of the changes of another connection', async () => {
    const path = newFile();
    const [fs, other] = await Promise.all([openFileSystem(storageIn(path)), openFileSystem(storageIn(path))]);
    const events = fs.watch('/')[Symbol.asyncIterator]();
    const next = events.next();
    await other.writeFile('/a', 'x');
    expect((await next).value).toEqual({ type: 'overflow', path: '/' });
    await events.return?.(undefined);
    await Promise.all([fs.close(), other.close()]);
  });

  it('is a clear error where no database can be: a text, a missing folder, a newer format', async () => {
    const text = newFile();
    writeFileSync(text, 'no database, but a text that is longer than the header of a database is. '.repeat(9));
    await expect(openFileSystem(storageIn(text))).rejects.toMatchObject({ kind: 'corrupt' });
    await expect(openFileSystem(storageIn(join(root, 'absent', 'x.db')))).rejects.toMatchObject({ kind: 'denied' });
    const newer = newFile();
    const database = openFile(newer);
    database.exec('CREATE TABLE scratchfs_format (version INTEGER NOT NULL); INSERT INTO scratchfs_format VALUES (2)');
    await expect(openFileSystem(storageIn(newer))).rejects.toMatchObject({ kind: 'version', message: /format 2/ });
    database.close();
  });

  it.each([
    ['', {}, /connection, a path or a URL/],
    ['sqlite:', {}, /must look like sqlite:/],
    ['sqlite:/x?nam=a', {}, /unknown parameter/],
    ['sqlite:/x%y', {}, /not a part of a URL/],
    [{}, {}, /no exec/],
    ['/x', { name: '../x' }, /cannot be the name/],
    ['/x', { durability: 'maybe' }, /must be "fsync" or "process"/],
    ['/x', { nmae: 'a' }, /nmae/],
  ])('refuses the database %j with options %j', (database, options, message) => {
    expect(() => new SqliteStorage(database as string, options as SqliteStorageOptions)).toThrow(message);
  });

  it(`loses none of ${WRITERS} × ${INCREMENTS} increments of processes on one file`, LONG, () =>
    raceOnCounter(`sqlite:${newFile()}`, WRITERS, INCREMENTS),
  );

  it(`keeps every acknowledged increment through ${KILLS} kills at random moments`, LONG, () =>
    killOnCounter(`sqlite:${newFile()}`, KILLS),
  );
});
