import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { objectStoreFaults, objectStoreSuite } from '@scratchfs/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { connectionOf } from './postgres-client.js';
import { PostgresObjectStore } from './postgres-object-store.js';
import { openDatabase } from './sqlite-database.js';
import { SqliteObjectStore } from './sqlite-object-store.js';

const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'scratchfs-sql-'));
const database = await PGlite.create();
afterAll(async () => {
  await database.close();
  rmSync(root, { recursive: true, force: true });
});

const test = { describe, it: (name: string, body: () => Promise<void>) => it(name, body) };
const sqlite = (place: string): SqliteObjectStore =>
  new SqliteObjectStore(() => openDatabase(join(root, 'all.db')), place, true, false);
const postgres = (place: string): PostgresObjectStore =>
  new PostgresObjectStore(async () => connectionOf(database), place);

const suite = {
  test,
  methods: ['commit', 'watch', 'deleteHead'],
  listedObjects: 1_200,
  watchTimeoutMs: 60_000,
} as const;
objectStoreSuite({ ...suite, name: 'Rows of SQLite', open: sqlite });
objectStoreSuite({ ...suite, name: 'Rows of PostgreSQL', open: postgres });

describe('A database whose replies are lost', () => {
  it.each([
    ['SQLite', sqlite, 11],
    ['PostgreSQL', postgres, 41],
  ] as const)('leaves the state that was reported: %s', async (name, open, every) => {
    let made = 0;
    const create = () => open(`${name} ${made++}`);
    const { faults, problems } = await objectStoreFaults({ create, every });
    expect(problems).toEqual([]);
    expect(faults).toBeGreaterThan(8);
  });
});
