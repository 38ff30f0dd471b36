import { join } from 'node:path';
import { openFileSystem } from '@scratchfs/core';
import { type SqliteDatabase, SqliteStorage } from '@scratchfs/sql';
import { collectTests, objectStoreSuite } from '@scratchfs/testkit';
import { SqliteObjectStore } from '../../packages/sql/src/sqlite-object-store.js';

/**
 * Tests a driver of SQLite in the runtime that runs this program: the suite of object stores, and what depends on the
 * errors of a driver. Arguments: the module, its export, an empty folder. Prints the number of tests, and the failures.
 */
type Driver = new (path: string, options?: object) => SqliteDatabase;
const [module = '', name = 'default', folder = ''] = process.argv.slice(2);
const Database = ((await import(module)) as Record<string, Driver>)[name] as Driver;

const collected = collectTests();
objectStoreSuite({
  test: collected,
  methods: ['commit', 'watch', 'deleteHead'],
  watchTimeoutMs: 60_000,
  open: (place) => new SqliteObjectStore(async () => new Database(join(folder, 'suite.db')), place, true, false),
});
const results = await collected.run();
const failed = results.filter(({ error }) => error !== undefined).map(({ name, error }) => `${name}: ${error}`);

const cases: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  'keeps files and checkpoints': async (path) => {
    const fs = await openFileSystem(new SqliteStorage(new Database(path)));
    await fs.writeFile('/large', new Uint8Array(3_000_000).fill(7));
    const before = await fs.checkpoint();
    await fs.writeFile('/empty', '');
    await fs.rollback(before);
    const again = await openFileSystem(new SqliteStorage(path));
    return [await again.readdir('/'), (await again.readFile('/large')).every((byte) => byte === 7)];
  },
  'waits for a lock': async (path) => {
    const fs = await openFileSystem(new SqliteStorage(new Database(path)));
    const other = new Database(path);
    other.exec('BEGIN IMMEDIATE');
    setTimeout(() => other.exec('COMMIT'), 100);
    await fs.writeFile('/a', 'x');
    return fs.readText('/a');
  },
  'opens a file for reading, and is denied to write': async (path) => {
    const database = new Database(path);
    const owner = await openFileSystem(new SqliteStorage(database));
    await owner.writeFile('/a', 'x');
    await owner.close();
    // The mode of a copy by VACUUM INTO, for example.
    database.exec('PRAGMA journal_mode = DELETE');
    database.close();
    const option = module === 'node:sqlite' ? 'readOnly' : 'readonly';
    const reader = await openFileSystem(new SqliteStorage(new Database(path, { [option]: true })));
    const refused = await reader.writeFile('/a', 'y').catch(({ cause, kind = cause?.kind }) => kind);
    return [await reader.readText('/a'), refused];
  },
};
const expected = [[['large'], true], 'x', ['x', 'denied']];
for (const [i, [title, work]] of Object.entries(cases).entries()) {
  const found = await work(join(folder, `${i}.db`)).catch((error: unknown) => String(error));
  if (JSON.stringify(found) !== JSON.stringify(expected[i])) failed.push(`${title}: ${JSON.stringify(found)}`);
}
console.log(JSON.stringify({ tests: results.length + expected.length, failed }));
process.exit(0);
