import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type BackendCall, quote, StorageError } from '@scratchfs/core';
import type { NamePage, ObjectStore, StoredHead, StoredObject } from '@scratchfs/core/object-tree';
import { checkFormat, FORMAT_VERSION } from './format.js';
import type { Row, SqliteDatabase, SqliteStatement, Value } from './sqlite-database.js';
import { isBusy, isReadOnly, toStorageError } from './sqlite-errors.js';

const NAMES_PER_PAGE = 1_000;
/** Milliseconds to wait for a lock. A statement itself does not wait, because that would block the event loop. */
const LOCK_WAIT_MS = 5_000;
/** Milliseconds between two reads of a watched head. */
const LOOK_INTERVAL_MS = 200;

const TABLES = `
  CREATE TABLE IF NOT EXISTS scratchfs_format (version INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS scratchfs_objects (
    filesystem TEXT NOT NULL, name TEXT NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (filesystem, name));
  CREATE TABLE IF NOT EXISTS scratchfs_heads (filesystem TEXT PRIMARY KEY, tag TEXT NOT NULL, bytes BLOB NOT NULL);`;

const PUT = 'INSERT OR REPLACE INTO scratchfs_objects VALUES (?, ?, ?)';
// A counter would repeat its values in a file that is restored from a backup, or deleted and created again.
const NEW_TAG = 'lower(hex(randomblob(16)))';
const FIRST_HEAD = `INSERT INTO scratchfs_heads VALUES (?, ${NEW_TAG}, ?) ON CONFLICT DO NOTHING RETURNING tag`;
const NEXT_HEAD = `UPDATE scratchfs_heads SET tag = ${NEW_TAG}, bytes = ? WHERE filesystem = ? AND tag = ? RETURNING tag`;

/**
 * Throws if the file of the database is no longer at its path, or if that cannot be checked.
 * @param mayHaveHappened whether the caller's work may already be committed
 */
type FileCheck = (mayHaveHappened: boolean) => void;

/**
 * Connections that wait for the disk, because at least one storage on them has the durability `fsync`. Other storages
 * on the same connection do not turn that off.
 */
const flushed = new WeakSet<SqliteDatabase>();

/** Stores the objects of a filesystem, and its head, as rows of a SQLite database. */
export class SqliteObjectStore implements ObjectStore {
  readonly #open: () => Promise<SqliteDatabase>;
  readonly #name: string;
  readonly #isOwned: boolean;
  readonly #isFlushed: boolean;
  readonly #statements = new Map<string, SqliteStatement>();
  #opened: Promise<SqliteDatabase> | undefined;
  #isClosed = false;
  #checkFile: FileCheck = () => {};

  /**
   * @param isOwned whether to close the database with the store
   * @param isFlushed whether a commit waits for the disk
   */
  constructor(open: () => Promise<SqliteDatabase>, name: string, isOwned: boolean, isFlushed: boolean) {
    this.#open = open;
    this.#name = name;
    this.#isOwned = isOwned;
    this.#isFlushed = isFlushed;
  }

  get(name: string, offset: number, length: number, call?: BackendCall): Promise<Uint8Array | undefined> {
    return this.#attempt(call, (db) => {
      const sql = 'SELECT substr(bytes, ?, ?) AS bytes FROM scratchfs_objects WHERE filesystem = ? AND name = ?';
      const row = this.#row(db, sql, offset + 1, length, this.#name, name);
      return row && bytesOf(row['bytes']);
    });
  }

  put(name: string, bytes: Uint8Array, call?: BackendCall): Promise<void> {
    return this.#attempt(call, (db) => this.#run(db, PUT, this.#name, name, bytes));
  }

  delete(names: readonly string[], call?: BackendCall): Promise<void> {
    return this.#transaction(call, (db) => {
      const sql = 'DELETE FROM scratchfs_objects WHERE filesystem = ? AND name = ?';
      for (const name of names) this.#run(db, sql, this.#name, name);
    });
  }

  list(prefix: string, cursor = '', call?: BackendCall): Promise<NamePage> {
    return this.#attempt(call, (db) => {
      const sql = `SELECT name FROM scratchfs_objects WHERE filesystem = ? AND name > ? AND name >= ? AND name < ?
        ORDER BY name LIMIT ?`;
      // A tilde is greater than every character of a name.
      const parameters = [this.#name, cursor, prefix, `${prefix}~`, NAMES_PER_PAGE];
      const names = this.#statement(db, sql)
        .all(...(parameters as never[]))
        .map((row) => String((row as Row)['name']));
      return { names, cursor: names.length === NAMES_PER_PAGE ? names.at(-1) : undefined };
    });
  }

  readHead(known: string | undefined, call?: BackendCall): Promise<StoredHead | 'unchanged' | undefined> {
    return this.#attempt(call, (db) => {
      this.#checkFile(false);
      const tag = this.#tag(db);
      if (tag === undefined) return undefined;
      if (tag === known) return 'unchanged';
      const sql = 'SELECT tag, bytes FROM scratchfs_heads WHERE filesystem = ?';
      const row = this.#row(db, sql, this.#name);
      return row && { tag: String(row['tag']), bytes: bytesOf(row['bytes']) };
    });
  }

  swapHead(bytes: Uint8Array, expected: string | undefined, call?: BackendCall): Promise<string | undefined> {
    return this.#transaction(call, (db) => this.#swap(db, bytes, expected));
  }

  commit(
    objects: readonly StoredObject[],
    head: Uint8Array,
    expected: string,
    call?: BackendCall,
  ): Promise<string | undefined> {
    return this.#transaction(call, (db) => {
      const tag = this.#swap(db, head, expected);
      if (tag !== undefined) for (const { name, bytes } of objects) this.#run(db, PUT, this.#name, name, bytes);
      return tag;
    });
  }

  watch(changed: () => void, fail: (error: unknown) => void): () => void {
    let known: string | undefined;
    const timer = setInterval(() => {
      const look = (db: SqliteDatabase): string | undefined => {
        this.#checkFile(false);
        return this.#tag(db);
      };
      void this.#attempt(undefined, look).then(
        (tag) => {
          if (tag !== known) changed();
          known = tag;
        },
        (error: unknown) => {
          const { retryable, cause } = error as StorageError;
          if (retryable || isBusy(cause)) return;
          clearInterval(timer);
          fail(error);
        },
      );
    }, LOOK_INTERVAL_MS);
    return () => clearInterval(timer);
  }

  deleteHead(call?: BackendCall): Promise<void> {
    return this.#attempt(call, (db) => {
      this.#run(db, 'DELETE FROM scratchfs_heads WHERE filesystem = ?', this.#name);
    });
  }

  /** Returns the names of the filesystems in the database, sorted. Creates no tables. */
  names(): Promise<string[]> {
    this.#opened ??= this.#open();
    return this.#attempt(undefined, (db) => {
      if (!hasTables(db)) return [];
      checkFormat(this.#row(db, 'SELECT version FROM scratchfs_format')?.['version']);
      return this.#statement(db, 'SELECT filesystem FROM scratchfs_heads ORDER BY filesystem')
        .all()
        .map((row) => String((row as Row)['filesystem']));
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#statements.clear();
    const db = await this.#opened?.catch(() => undefined);
    if (this.#isOwned) db?.close();
  }

  #swap(db: SqliteDatabase, bytes: Uint8Array, expected: string | undefined): string | undefined {
    const row =
      expected === undefined
        ? this.#row(db, FIRST_HEAD, this.#name, bytes)
        : this.#row(db, NEXT_HEAD, bytes, this.#name, expected);
    return row && String(row['tag']);
  }

  #tag(db: SqliteDatabase): string | undefined {
    const sql = 'SELECT tag FROM scratchfs_heads WHERE filesystem = ?';
    const row = this.#row(db, sql, this.#name);
    return row && String(row['tag']);
  }

  #statement(db: SqliteDatabase, sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #row(db: SqliteDatabase, sql: string, ...parameters: Value[]): Row | undefined {
    return (this.#statement(db, sql).get(...(parameters.map(parameterOf) as never[])) ?? undefined) as Row | undefined;
  }

  #run(db: SqliteDatabase, sql: string, ...parameters: Value[]): void {
    this.#statement(db, sql).run(...(parameters.map(parameterOf) as never[]));
  }

  /** @throws StorageError `lost` if the file was moved, deleted or replaced */
  #transaction<T>(call: BackendCall | undefined, work: (db: SqliteDatabase) => T): Promise<T> {
    return this.#attempt(call, (db) => {
      const result = inTransaction(db, () => {
        const done = work(db);
        this.#checkFile(false);
        return done;
      });
      // The file may have been moved during the commit.
      this.#checkFile(true);
      return result;
    });
  }

  /** Runs statements. While another connection holds the lock, repeats them for up to `LOCK_WAIT_MS`. */
  async #attempt<T>(call: BackendCall | undefined, work: (db: SqliteDatabase) => T): Promise<T> {
    const until = performance.now() + LOCK_WAIT_MS;
    for (let waitMs = 1; ; waitMs = Math.min(2 * waitMs, 32)) {
      try {
        this.#opened ??= this.#prepare();
        return work(await this.#opened);
      } catch (error) {
        if (!isBusy(error) || performance.now() > until) throw toStorageError(error);
      }
      // A random time, so that waiting clients rarely collide again.
      await pause(waitMs * (0.5 + Math.random()));
      call?.signal?.throwIfAborted();
    }
  }

  async #prepare(): Promise<SqliteDatabase> {
    let db: SqliteDatabase | undefined;
    try {
      if (!this.#isClosed) db = await this.#open();
      if (db === undefined || this.#isClosed) throw new StorageError('closed', 'The storage was closed');
      if (this.#isFlushed) flushed.add(db);
      prepareDatabase(db);
      this.#checkFile = fileCheck(db);
      return db;
    } catch (error) {
      this.#opened = undefined;
      if (this.#isOwned) db?.close();
      throw error;
    }
  }
}

function prepareDatabase(db: SqliteDatabase): void {
  db.exec('PRAGMA busy_timeout = 0');
  const version = 'SELECT version FROM scratchfs_format';
  try {
    inTransaction(db, () => {
      db.exec(TABLES);
      const row = db.prepare(version).get() as Row | null | undefined;
      if (row) checkFormat(row['version']);
      else db.exec(`INSERT INTO scratchfs_format VALUES (${FORMAT_VERSION})`);
    });
    // After the check of the format, because it changes the file. In this mode readers and one writer do not block each
    // other. A database in memory has no such mode, and needs none.
    db.exec('PRAGMA journal_mode = WAL');
    db.exec(`PRAGMA synchronous = ${flushed.has(db) ? 'FULL' : 'NORMAL'}`);
  } catch (error) {
    // A connection that may only read opens a database that has the tables.
    if (!isReadOnly(error) || !hasTables(db)) throw error;
    checkFormat((db.prepare(version).get() as Row | null | undefined)?.['version']);
  }
}

function hasTables(db: SqliteDatabase): boolean {
  return (
    db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'scratchfs_format'").all().length > 0
  );
}

/** Returns a function that checks the file of a database. A check takes a few microseconds. */
function fileCheck(db: SqliteDatabase): FileCheck {
  const rows = db.prepare('PRAGMA database_list').all() as Row[];
  const path = rows.find(({ name }) => name === 'main')?.['file'];
  // A database in memory has no file.
  if (typeof path !== 'string' || path === '') return () => {};
  const identity = (mayHaveHappened: boolean): string => {
    try {
      const found = statSync(path, { throwIfNoEntry: false });
      return `${found?.dev} ${found?.ino}`;
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const text = `Cannot check whether the SQLite file ${quote(path)} is still in its place (${code})`;
      throw new StorageError('unavailable', text, { mayHaveHappened, retryable: false, cause });
    }
  };
  const opened = identity(false);
  return (mayHaveHappened) => {
    if (identity(mayHaveHappened) === opened) return;
    throw new StorageError(
      'lost',
      `The SQLite file ${quote(path)} was deleted, moved or replaced while it was open. Open the storage again`,
      { mayHaveHappened },
    );
  };
}

function inTransaction<T>(db: SqliteDatabase, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    try {
      db.exec('ROLLBACK');
    } catch {
      // SQLite may have rolled back by itself.
    }
    throw error;
  }
}

/** Returns a value in a form that every driver accepts: bytes as a Buffer. */
function parameterOf(value: Value): unknown {
  if (!(value instanceof Uint8Array) || Buffer.isBuffer(value)) return value;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

function bytesOf(value: unknown): Uint8Array {
  // Some drivers return the empty result of substr() as null.
  if (value === null || value === undefined) return new Uint8Array();
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (!(value instanceof Uint8Array)) throw new StorageError('corrupt', 'A row of the filesystem holds no bytes');
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}
