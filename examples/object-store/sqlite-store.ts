import { StorageError } from '@scratchfs/core';
import type { NamePage, ObjectStore, StoredHead, StoredObject } from '@scratchfs/core/object-tree';
import sqlite, { type Database } from 'node-sqlite3-wasm';

const NAMES_PER_PAGE = 500;
/** AUTOINCREMENT: a number is not used again after its row was deleted. */
const TABLES = `
  CREATE TABLE IF NOT EXISTS objects (name TEXT PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS head (tag INTEGER PRIMARY KEY AUTOINCREMENT, bytes BLOB NOT NULL);`;
const PUT = 'INSERT OR REPLACE INTO objects VALUES (?, ?)';

/** A filesystem in a SQLite file, which any number of processes may share. */
export class SqliteStore implements ObjectStore {
  readonly #db: Database;

  constructor(file: string) {
    this.#db = attempt(() => new sqlite.Database(file));
    attempt(() => this.#db.exec(TABLES));
  }

  async get(name: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    const sql = 'SELECT substr(bytes, ?, ?) AS bytes FROM objects WHERE name = ?';
    const row = attempt(() => this.#db.get(sql, [offset + 1, length, name]));
    return row === null ? undefined : (row['bytes'] as Uint8Array);
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    attempt(() => this.#db.run(PUT, [name, bytes]));
  }

  async delete(names: readonly string[]): Promise<void> {
    this.#transaction(() => names.map((name) => this.#db.run('DELETE FROM objects WHERE name = ?', [name])));
  }

  async list(prefix: string, cursor = ''): Promise<NamePage> {
    const sql = 'SELECT name FROM objects WHERE name > ? AND name >= ? AND name < ? ORDER BY name LIMIT ?';
    // A tilde is greater than every character of a name.
    const rows = attempt(() => this.#db.all(sql, [cursor, prefix, `${prefix}~`, NAMES_PER_PAGE]));
    const names = rows.map((row) => row['name'] as string);
    return { names, cursor: names.length === NAMES_PER_PAGE ? names.at(-1) : undefined };
  }

  async readHead(): Promise<StoredHead | undefined> {
    const row = attempt(() => this.#db.get('SELECT tag, bytes FROM head'));
    return row === null ? undefined : { tag: String(row['tag']), bytes: row['bytes'] as Uint8Array };
  }

  async swapHead(bytes: Uint8Array, expected: string | undefined): Promise<string | undefined> {
    return this.commit([], bytes, expected);
  }

  async commit(objects: readonly StoredObject[], head: Uint8Array, expected?: string): Promise<string | undefined> {
    return this.#transaction(() => {
      const row = this.#db.get('SELECT tag FROM head');
      if ((row === null ? undefined : String(row['tag'])) !== expected) return undefined;
      for (const { name, bytes } of objects) this.#db.run(PUT, [name, bytes]);
      this.#db.run('DELETE FROM head');
      return String(this.#db.run('INSERT INTO head (bytes) VALUES (?)', [head]).lastInsertRowid);
    });
  }

  async deleteHead(): Promise<void> {
    attempt(() => this.#db.run('DELETE FROM head'));
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  #transaction<T>(work: () => T): T {
    return attempt(() => {
      this.#db.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        this.#db.exec('COMMIT');
        return result;
      } finally {
        if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      }
    });
  }
}

/** Converts errors of SQLite. Nothing has happened if the file was locked or the disk is full. */
function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const text = String(cause);
    if (/locked|busy/.test(text)) throw new StorageError('unavailable', 'Locked', { mayHaveHappened: false, cause });
    if (/full/.test(text)) throw new StorageError('full', 'The disk is full', { cause });
    if (/readonly|open/.test(text)) throw new StorageError('denied', 'No access to the file', { cause });
    if (/malformed|not a database/.test(text)) throw new StorageError('corrupt', 'The file is damaged', { cause });
    throw new StorageError('unavailable', 'SQLite failed', { retryable: false, cause });
  }
}
