import { setTimeout as pause } from 'node:timers/promises';
import { StorageError } from '@scratchfs/core';
import type { NamePage, ObjectStore, StoredHead, StoredObject } from '@scratchfs/core/object-tree';
import { checkFormat, FORMAT_VERSION } from './format.js';
import type { Connection, Parameter, Row } from './postgres-client.js';
import { toStorageError } from './postgres-errors.js';

const NAMES_PER_PAGE = 1_000;
const CHANNEL = 'scratchfs';
/** Milliseconds before the next attempt to listen, and between two reports of a change if the client cannot listen. */
const LOOK_INTERVAL_MS = 500;

/** Key of the advisory lock that clients take while they create the tables. */
const CREATION_LOCK = 0x73637261;
// One statement, so that all tables appear in one step, or none if the client dies. Without the setting, some clients
// print a notice for each table that exists. Storage is EXTERNAL, which does not compress, so that a part of an object
// can be read alone.
const CREATE_TABLES = `DO $$ BEGIN
  PERFORM pg_advisory_xact_lock(${CREATION_LOCK}), set_config('client_min_messages', 'warning', true);
  CREATE TABLE IF NOT EXISTS scratchfs_objects (
    filesystem text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, bytes bytea NOT NULL,
    PRIMARY KEY (filesystem, name));
  ALTER TABLE scratchfs_objects ALTER COLUMN bytes SET STORAGE EXTERNAL;
  CREATE TABLE IF NOT EXISTS scratchfs_heads (filesystem text PRIMARY KEY, tag text NOT NULL, bytes bytea NOT NULL);
  CREATE TABLE IF NOT EXISTS scratchfs_format (version integer NOT NULL);
  INSERT INTO scratchfs_format SELECT ${FORMAT_VERSION} WHERE NOT EXISTS (SELECT FROM scratchfs_format);
END $$`;

/**
 * SQL expression for a new tag. A counter would repeat its values in a database that is restored from a backup or
 * created again.
 */
const NEW_TAG = 'gen_random_uuid()::text';
/** Replaces the head. Each statement of this store is its own transaction, so any connection of a pool can run it. */
const NEXT_HEAD = `UPDATE scratchfs_heads SET tag = ${NEW_TAG}, bytes = $3 WHERE filesystem = $1 AND tag = $2 RETURNING tag`;
const FIRST_HEAD = `INSERT INTO scratchfs_heads VALUES ($1, ${NEW_TAG}, $2) ON CONFLICT (filesystem) DO NOTHING RETURNING tag`;

/** Stores the objects of a filesystem, and its head, as rows of a PostgreSQL database. */
export class PostgresObjectStore implements ObjectStore {
  readonly #open: () => Promise<Connection>;
  readonly #name: string;
  readonly #create: boolean;
  #opened: Promise<Connection> | undefined;
  #isClosed = false;

  /** @param create create missing tables */
  constructor(open: () => Promise<Connection>, name: string, create = true) {
    this.#open = open;
    this.#name = name;
    this.#create = create;
  }

  async get(name: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    const sql =
      'SELECT substring(bytes FROM $3::int FOR $4::int) AS bytes FROM scratchfs_objects WHERE filesystem = $1 AND name = $2';
    const [row] = await this.#query(sql, [this.#name, name, offset + 1, length]);
    return row && bytesOf(row);
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const sql = `INSERT INTO scratchfs_objects VALUES ($1, $2, $3)
      ON CONFLICT (filesystem, name) DO UPDATE SET bytes = excluded.bytes`;
    await this.#query(sql, [this.#name, name, bytes]);
  }

  async delete(names: readonly string[]): Promise<void> {
    const list = names.map((_, i) => `$${i + 2}`).join(', ');
    await this.#query(`DELETE FROM scratchfs_objects WHERE filesystem = $1 AND name IN (${list})`, [
      this.#name,
      ...names,
    ]);
  }

  async list(prefix: string, cursor = ''): Promise<NamePage> {
    // A tilde is greater than every character of a name.
    const sql = `SELECT name FROM scratchfs_objects WHERE filesystem = $1 AND name > $2 AND name >= $3 AND name < $4
      ORDER BY name LIMIT ${NAMES_PER_PAGE}`;
    const rows = await this.#query(sql, [this.#name, cursor, prefix, `${prefix}~`]);
    const names = rows.map((row) => String(row['name']));
    return { names, cursor: names.length === NAMES_PER_PAGE ? names.at(-1) : undefined };
  }

  async readHead(known: string | undefined): Promise<StoredHead | 'unchanged' | undefined> {
    const sql = `SELECT tag, CASE WHEN tag = $2 THEN NULL ELSE bytes END AS bytes FROM scratchfs_heads WHERE filesystem = $1`;
    const [row] = await this.#query(sql, [this.#name, known ?? '']);
    if (row === undefined) return undefined;
    const tag = String(row['tag']);
    return tag === known ? 'unchanged' : { tag, bytes: bytesOf(row) };
  }

  swapHead(bytes: Uint8Array, expected: string | undefined): Promise<string | undefined> {
    return expected === undefined
      ? this.#swap(FIRST_HEAD, [], [this.#name, bytes])
      : this.#swap(NEXT_HEAD, [], [this.#name, expected, bytes]);
  }

  commit(objects: readonly StoredObject[], head: Uint8Array, expected: string): Promise<string | undefined> {
    return this.#swap(NEXT_HEAD, objects, [this.#name, expected, head]);
  }

  watch(changed: () => void, fail: (error: unknown) => void): () => void {
    let isStopped = false;
    let stopListening: (() => void) | undefined;
    const notified = (payload: string | undefined): void => {
      if (!isStopped && (payload === undefined || payload === this.#name)) changed();
    };
    const listen = async (): Promise<void> => {
      while (!isStopped) {
        try {
          const { listen } = await this.#connection();
          if (listen !== undefined && !isStopped) {
            await new Promise<void>((resolve, reject) => {
              listen(CHANNEL, notified, resolve).then((stop) => {
                stopListening = () => {
                  stop();
                  resolve();
                };
                if (isStopped) stopListening();
                // There may have been changes before it listened.
                else changed();
              }, reject);
            });
          }
        } catch (error) {
          const failure = toStorageError(error);
          if (!(failure as StorageError).retryable) {
            if (!isStopped) fail(failure);
            return;
          }
        }
        if (isStopped) return;
        await pause(LOOK_INTERVAL_MS);
        if (!isStopped) changed();
      }
    };
    void listen();
    return () => {
      isStopped = true;
      stopListening?.();
    };
  }

  async deleteHead(): Promise<void> {
    await this.#swap('DELETE FROM scratchfs_heads WHERE filesystem = $1 RETURNING tag', [], [this.#name]);
  }

  /** Returns the names of the filesystems in the database, sorted. Creates no tables. */
  async names(): Promise<string[]> {
    this.#opened ??= this.#open();
    try {
      if (!(await hasTables(await this.#opened))) return [];
    } catch (error) {
      throw toStorageError(error);
    }
    const rows = await this.#query('SELECT filesystem FROM scratchfs_heads', []);
    return rows.map((row) => String(row['filesystem'])).sort();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opened?.then((connection) => connection.close()).catch(() => undefined);
  }

  /**
   * Runs a statement that changes the head and returns its tag. In the same step stores the objects and notifies the
   * watchers. Returns the tag; undefined if the head did not change, and then nothing is stored.
   */
  async #swap(
    sql: string,
    objects: readonly StoredObject[],
    parameters: readonly Parameter[],
  ): Promise<string | undefined> {
    const values: Parameter[] = [...parameters];
    let stored = '';
    if (objects.length > 0) {
      const rows = objects.map(({ name, bytes }) => `($${values.push(name)}, $${values.push(bytes)}::bytea)`);
      stored = `, stored AS (INSERT INTO scratchfs_objects SELECT $1, object.name, object.bytes
        FROM (VALUES ${rows.join(', ')}) AS object (name, bytes), swapped
        ON CONFLICT (filesystem, name) DO UPDATE SET bytes = excluded.bytes)`;
    }
    const [row] = await this.#query(
      `WITH swapped AS (${sql})${stored} SELECT tag, pg_notify('${CHANNEL}', $1::text)::text AS told FROM swapped`,
      values,
    );
    return row && String(row['tag']);
  }

  async #query(sql: string, parameters: readonly Parameter[]): Promise<readonly Row[]> {
    try {
      const connection = await this.#connection();
      return await connection.query(sql, parameters.map(parameterOf));
    } catch (error) {
      throw toStorageError(error);
    }
  }

  #connection(): Promise<Connection> {
    this.#opened ??= this.#prepare();
    return this.#opened;
  }

  async #prepare(): Promise<Connection> {
    let connection: Connection | undefined;
    try {
      if (!this.#isClosed) connection = await this.#open();
      if (connection !== undefined) await prepareTables(connection, this.#create);
      if (connection === undefined || this.#isClosed) throw new StorageError('closed', 'The storage was closed');
      return connection;
    } catch (error) {
      this.#opened = undefined;
      await connection?.close().catch(() => undefined);
      throw error;
    }
  }
}

async function prepareTables(connection: Connection, create: boolean): Promise<void> {
  // Existing tables are not created again: the user may have no right to create any.
  if (await hasTables(connection)) return;
  if (!create) throw new StorageError('lost', 'The database has no tables of scratchfs, and create is false');
  await connection.query(CREATE_TABLES, []);
  await checkTables(connection);
}

/** @throws StorageError `version` for tables of another version */
async function hasTables(connection: Connection): Promise<boolean> {
  const sql = "SELECT to_regclass('scratchfs_format')::text AS format";
  const [found] = await connection.query(sql, []);
  if (found?.['format'] == null) return false;
  await checkTables(connection);
  return true;
}

async function checkTables(connection: Connection): Promise<void> {
  const [row] = await connection.query('SELECT version FROM scratchfs_format', []);
  checkFormat(row?.['version']);
}

/** Returns a value in a form that every client accepts: bytes as a Buffer. */
function parameterOf(value: Parameter): Parameter {
  return value instanceof Uint8Array && !Buffer.isBuffer(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : value;
}

function bytesOf({ bytes }: Row): Uint8Array {
  if (!(bytes instanceof Uint8Array)) throw new StorageError('corrupt', 'A row of the filesystem holds no bytes');
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
