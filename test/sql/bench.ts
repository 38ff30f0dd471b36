import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileSystem, type Storage } from '@scratchfs/core';
import { PostgresStorage, SqliteStorage } from '@scratchfs/sql';
import { type Connector, createDatabase } from 'db0';
import sqliteConnector from 'db0/connectors/better-sqlite3';
import postgresConnector from 'db0/connectors/postgresql';
import Libsql from 'libsql';
import pg from 'pg';
import { createStorage } from 'unstorage';
import db0Driver from 'unstorage/drivers/db0';
import { median } from '../bench/median.js';
import { findPostgres, PostgresServer } from './servers/postgres-server.js';

/**
 * `npm run bench -- sql`: milliseconds of a write, a read and a list in SQLite and PostgreSQL, each waiting for the one
 * before, beside one row for each file in a transaction of its own, and beside unstorage. Both sides wait for the disk
 * alike: PostgreSQL flushes as it is installed, SQLite in the rows that say so. Argument: the number of operations.
 */
interface Client {
  write(key: string, bytes: Uint8Array): unknown;
  read(key: string): unknown;
  list(): unknown;
  close(): unknown;
}

const operations = Number(process.argv[2] ?? 300);
const ROUNDS = 5;
const KEYS = 50;
const SIZE = 4_096;
/**
 * Contents in turn. A key gets another content each time, because SQLite does not write a row that stays as it is. They
 * are random, because PostgreSQL would compress repeating bytes.
 */
const CONTENTS = Array.from({ length: KEYS + 1 }, () => randomBytes(SIZE));
const TABLE = 'CREATE TABLE IF NOT EXISTS files (name TEXT PRIMARY KEY, bytes ';
const UPSERT = 'ON CONFLICT (name) DO UPDATE SET bytes = excluded.bytes';

/** Rows in a file in WAL mode, as `SqliteStorage` sets it. */
function sqliteRows(path: string, synchronous: 'NORMAL' | 'FULL'): Client {
  const db = new Libsql(path);
  db.exec('PRAGMA journal_mode = WAL');
  db.exec(`PRAGMA synchronous = ${synchronous}`);
  db.exec(`${TABLE} BLOB)`);
  const write = db.prepare(`INSERT INTO files VALUES (?, ?) ${UPSERT}`);
  const read = db.prepare('SELECT bytes FROM files WHERE name = ?');
  const list = db.prepare('SELECT name FROM files ORDER BY name');
  return {
    write: (key, bytes) => write.run(key, Buffer.from(bytes)),
    read: (key) => read.get(key),
    list: () => list.all(),
    close: () => db.close(),
  };
}

async function postgresRows(url: string): Promise<Client> {
  const pool = new pg.Pool({ connectionString: url });
  await pool.query(`${TABLE} BYTEA)`);
  return {
    write: (key, bytes) => pool.query(`INSERT INTO files VALUES ($1, $2) ${UPSERT}`, [key, Buffer.from(bytes)]),
    read: (key) => pool.query('SELECT bytes FROM files WHERE name = $1', [key]),
    list: () => pool.query('SELECT name FROM files ORDER BY name'),
    close: () => pool.end(),
  };
}

/** The driver of unstorage for SQL. */
async function unstorage(connector: Connector, ...settings: string[]): Promise<Client> {
  const database = createDatabase(connector);
  for (const setting of settings) await database.exec(setting);
  const storage = createStorage({ driver: db0Driver({ database }) });
  return {
    write: (key, bytes) => storage.setItemRaw(key, Buffer.from(bytes)),
    read: (key) => storage.getItemRaw(key),
    list: () => storage.getKeys(),
    close: () => database.dispose(),
  };
}

const unstorageInSqlite = (path: string, synchronous: 'NORMAL' | 'FULL'): Promise<Client> =>
  unstorage(
    sqliteConnector({ path, lib: () => Libsql } as never),
    'PRAGMA journal_mode = WAL',
    `PRAGMA synchronous = ${synchronous}`,
  );

async function fileSystem(storage: Storage): Promise<Client> {
  const fs = await openFileSystem(storage);
  return {
    write: (key, bytes) => fs.writeFile(`/${key}`, bytes),
    read: (key) => fs.readFile(`/${key}`),
    list: () => fs.readdir('/'),
    close: () => fs.close(),
  };
}

const folder = mkdtempSync(join(tmpdir(), 'scratchfs-sql-bench-'));
const program = findPostgres();
const server = program === undefined ? undefined : await PostgresServer.start(program, true);
try {
  const file = (name: string): string => join(folder, `${name}.db`);
  const clients: [string, Client][] = [
    ['SQLite, a row', sqliteRows(file('row'), 'NORMAL')],
    ['unstorage, SQLite', await unstorageInSqlite(file('unstorage'), 'NORMAL')],
    ['`SqliteStorage`', await fileSystem(new SqliteStorage(file('tree'), { durability: 'process' }))],
    ['SQLite, a row, flushed', sqliteRows(file('flushed-row'), 'FULL')],
    ['unstorage, SQLite, flushed', await unstorageInSqlite(file('flushed-unstorage'), 'FULL')],
    ['`SqliteStorage`, flushed', await fileSystem(new SqliteStorage(file('flushed-tree')))],
  ];
  if (server !== undefined)
    clients.push(
      ['PostgreSQL, a row', await postgresRows(server.url)],
      ['unstorage, PostgreSQL', await unstorage(postgresConnector({ url: server.url, lib: () => pg } as never))],
      ['`PostgresStorage`', await fileSystem(new PostgresStorage(server.url))],
    );
  const least = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, client] of clients) {
      const keyOf = (i: number): string => `f${i % KEYS}`;
      const works = [
        (i: number) => client.write(keyOf(i), CONTENTS[i % CONTENTS.length] as Uint8Array),
        (i: number) => client.read(keyOf(i)),
        () => client.list(),
      ];
      const before = least.get(name);
      const times: number[] = [];
      for (const [which, work] of works.entries()) {
        const single: number[] = [];
        for (let i = 0; i < operations; i++) {
          const started = performance.now();
          await work(i);
          single.push(performance.now() - started);
        }
        times.push(Math.min(before?.[which] ?? Infinity, median(single)));
      }
      least.set(name, times);
    }
  console.log(`| ${SIZE / 1_024} KB, one after another, ms | write | read | list ${KEYS} |\n|---|---|---|---|`);
  for (const [name, times] of least) console.log(`| ${name} | ${times.map((ms) => ms.toFixed(2)).join(' | ')} |`);
  if (server === undefined) console.log('PostgreSQL is not installed here');
  for (const [, client] of clients) await client.close();
} finally {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
}
