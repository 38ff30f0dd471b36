import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileSystem } from '@scratchfs/core';
import { type SqliteDatabase, SqliteStorage, type SqliteStorageOptions } from '@scratchfs/sql';
import { fileSystemSuite, storageSuite } from '@scratchfs/testkit';
import Libsql from 'libsql';
import { afterAll, describe, expect, it } from 'vitest';
import { killOnCounter, raceOnCounter } from './counting-clients.js';

// Memory is enough here: the tests do not stop the machine.
const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'scratchfs-sqlite-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let made = 0;
const newFile = (): string => join(root, `${made++}.db`);
const openFile = (path: string): SqliteDatabase => new Libsql(path) as unknown as SqliteDatabase;
const storageIn = (path: string, options: SqliteStorageOptions = {}): SqliteStorage =>
  new SqliteStorage(path, { durability: 'process', ...options });

const test = { describe, it: (name: string, body: () => Promise<void>) => it(name, body) };
storageSuite({ test, name: 'Storage in SQLite', create: ({ clock }) => storageIn(newFile(), { clock }) });
fileSystemSuite({
  test,
  name: 'FileSystem in SQLite',
  create: ({ clock, limits }) => openFileSystem(storageIn(newFile(), { clock, maxCacheBytes: 0 }), { clock, limits }),
});

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

  it('waits for the lock of another connection, and fails with nothing written if it stays', async () => {
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
    await expect(openFileSystem(storageIn(newer))).rejects.toMatchObject({ kind: 'unsupported', message: /format 2/ });
    database.close();
  });

  it.each([
    ['', {}, /connection, a path or a URL/],
    ['sqlite:', {}, /must look like sqlite:/],
    ['sqlite:/x?nam=a', {}, /unknown parameter/],
    [{}, {}, /no exec/],
    ['/x', { name: '../x' }, /cannot be the name/],
    ['/x', { durability: 'maybe' }, /must be "fsync" or "process"/],
    ['/x', { nmae: 'a' }, /nmae/],
  ])('refuses the database %j with options %j', (database, options, message) => {
    expect(() => new SqliteStorage(database as string, options as SqliteStorageOptions)).toThrow(message);
  });

  it('loses no increment of four processes on one file', () => raceOnCounter(`sqlite:${newFile()}`, 4, 25));

  it('keeps every acknowledged increment through kills at random moments', () =>
    killOnCounter(`sqlite:${newFile()}`, 4));
});
