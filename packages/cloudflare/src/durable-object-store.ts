import { StorageError } from '@scratchfs/core';
import type { NamePage, ObjectStore, StoredHead, StoredObject } from '@scratchfs/core/object-tree';
import { toStorageError } from './durable-object-errors.js';
import type { Row, SqlObjectState, SqlValue } from './durable-object-state.js';

/** Version of the table layout. */
const FORMAT_VERSION = 1;
const NAMES_PER_PAGE = 1_000;
/** A row may have 2 MB, with its names (https://developers.cloudflare.com/durable-objects/platform/limits/). */
const MAX_OBJECT_BYTES = 1_900_000;

// WITHOUT ROWID, so that there is no second index, and each written row is charged only once.
const TABLES = [
  'CREATE TABLE IF NOT EXISTS scratchfs_format (version INTEGER NOT NULL)',
  `CREATE TABLE IF NOT EXISTS scratchfs_objects (
    filesystem TEXT NOT NULL, name TEXT NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (filesystem, name)) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS scratchfs_heads (
    filesystem TEXT PRIMARY KEY, tag TEXT NOT NULL, bytes BLOB NOT NULL) WITHOUT ROWID`,
];
const HAS_TABLES = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'scratchfs_format'";

const GET = 'SELECT substr(bytes, ?, ?) AS bytes FROM scratchfs_objects WHERE filesystem = ? AND name = ?';
const PUT = 'INSERT OR REPLACE INTO scratchfs_objects VALUES (?, ?, ?)';
const DELETE = 'DELETE FROM scratchfs_objects WHERE filesystem = ? AND name = ?';
const LIST = `SELECT name FROM scratchfs_objects WHERE filesystem = ? AND name > ? AND name >= ? AND name < ?
  ORDER BY name LIMIT ${NAMES_PER_PAGE}`;
const HEAD = `SELECT tag, iif(tag = ?, NULL, bytes) AS bytes FROM scratchfs_heads WHERE filesystem = ?`;
// A counter would repeat its values: deleteAll() deletes it, and a transaction of the application can roll it back.
const NEW_TAG = 'lower(hex(randomblob(16)))';
const FIRST_HEAD = `INSERT INTO scratchfs_heads VALUES (?, ${NEW_TAG}, ?) ON CONFLICT DO NOTHING RETURNING tag`;
const NEXT_HEAD = `UPDATE scratchfs_heads SET tag = ${NEW_TAG}, bytes = ? WHERE filesystem = ? AND tag = ? RETURNING tag`;
const DELETE_HEAD = 'DELETE FROM scratchfs_heads WHERE filesystem = ?';
const NAMES = 'SELECT filesystem FROM scratchfs_heads ORDER BY filesystem';

/**
 * Functions to call when a head has changed, by the name of the filesystem. All clients of a Durable Object run in one
 * isolate.
 */
const watchers = new WeakMap<SqlObjectState, Map<string, Set<() => void>>>();

/** Stores the objects of a filesystem, and its head, as rows of a Durable Object's database. */
export class DurableObjectStore implements ObjectStore {
  readonly maxObjectBytes = MAX_OBJECT_BYTES;
  readonly #state: SqlObjectState;
  readonly #name: string;
  #isPrepared = false;

  constructor(state: SqlObjectState, name: string) {
    this.#state = state;
    this.#name = name;
  }

  async get(name: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    return this.#attempt(() => {
      const row = this.#row(GET, offset + 1, length, this.#name, name);
      return row && bytesOf(row['bytes']);
    });
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    this.#attempt(() => this.#row(PUT, this.#name, name, bytes));
  }

  async delete(names: readonly string[]): Promise<void> {
    this.#transaction(() => {
      for (const name of names) this.#row(DELETE, this.#name, name);
    });
  }

  async list(prefix: string, cursor = ''): Promise<NamePage> {
    return this.#attempt(() => {
      // A tilde is greater than every character of a name.
      const rows = this.#state.sql.exec(LIST, this.#name, cursor, prefix, `${prefix}~`).toArray();
      const names = rows.map(({ name }) => String(name));
      return { names, cursor: names.length === NAMES_PER_PAGE ? names.at(-1) : undefined };
    });
  }

  async readHead(known: string | undefined): Promise<StoredHead | 'unchanged' | undefined> {
    return this.#attempt(() => {
      const row = this.#row(HEAD, known ?? null, this.#name);
      if (row === undefined) return undefined;
      const tag = String(row['tag']);
      return tag === known ? 'unchanged' : { tag, bytes: bytesOf(row['bytes']) };
    });
  }

  async swapHead(bytes: Uint8Array, expected: string | undefined): Promise<string | undefined> {
    return this.#replaceHead([], bytes, expected);
  }

  async commit(objects: readonly StoredObject[], head: Uint8Array, expected: string): Promise<string | undefined> {
    return this.#replaceHead(objects, head, expected);
  }

  watch(changed: () => void): () => void {
    const ofObject = watchers.get(this.#state) ?? new Map<string, Set<() => void>>();
    watchers.set(this.#state, ofObject);
    const ofName = ofObject.get(this.#name) ?? new Set<() => void>();
    ofObject.set(this.#name, ofName);
    // A function of its own, so that the same `changed` can be passed twice.
    const call = (): void => changed();
    ofName.add(call);
    return () => {
      ofName.delete(call);
    };
  }

  async deleteHead(): Promise<void> {
    this.#attempt(() => this.#row(DELETE_HEAD, this.#name));
    this.#notify();
  }

  #replaceHead(objects: readonly StoredObject[], head: Uint8Array, expected: string | undefined): string | undefined {
    const row = this.#transaction(() => {
      const swapped =
        expected === undefined
          ? this.#row(FIRST_HEAD, this.#name, head)
          : this.#row(NEXT_HEAD, head, this.#name, expected);
      if (swapped !== undefined) for (const { name, bytes } of objects) this.#row(PUT, this.#name, name, bytes);
      return swapped;
    });
    if (row === undefined) return undefined;
    this.#notify();
    return String(row['tag']);
  }

  #notify(): void {
    for (const changed of watchers.get(this.#state)?.get(this.#name) ?? []) queueMicrotask(changed);
  }

  #row(sql: string, ...values: (SqlValue | Uint8Array)[]): Row | undefined {
    return this.#state.sql.exec(sql, ...values).toArray()[0];
  }

  #transaction<T>(work: () => T): T {
    return this.#attempt(() => this.#state.transactionSync(work));
  }

  #attempt<T>(work: () => T): T {
    try {
      if (!this.#isPrepared) this.#state.transactionSync(() => prepare(this.#state));
      this.#isPrepared = true;
      return work();
    } catch (error) {
      throw toStorageError(error);
    }
  }
}

/** Returns the names of the filesystems in a Durable Object, sorted. */
export function listFileSystems(state: SqlObjectState): string[] {
  try {
    const { sql } = state;
    if (sql.exec(HAS_TABLES).toArray().length === 0) return [];
    return sql
      .exec(NAMES)
      .toArray()
      .map(({ filesystem }) => String(filesystem));
  } catch (error) {
    throw toStorageError(error);
  }
}

/** Creates the tables if they are missing. @throws StorageError `version` if existing ones have another version */
function prepare({ sql }: SqlObjectState): void {
  if (sql.exec(HAS_TABLES).toArray().length === 0) {
    for (const table of TABLES) sql.exec(table);
    sql.exec('INSERT INTO scratchfs_format VALUES (?)', FORMAT_VERSION);
  }
  const version = sql.exec('SELECT version FROM scratchfs_format').toArray()[0]?.['version'];
  if (version === FORMAT_VERSION) return;
  throw new StorageError(
    'version',
    `The tables have format ${String(version)}; this version of @scratchfs/cloudflare knows ${FORMAT_VERSION}: update it`,
  );
}

function bytesOf(value: SqlValue | undefined): Uint8Array {
  // substr() of nothing may be null.
  if (value === null) return new Uint8Array(0);
  if (!(value instanceof ArrayBuffer)) throw new StorageError('corrupt', 'A row of the filesystem holds no bytes');
  return new Uint8Array(value);
}
