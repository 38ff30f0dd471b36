import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { quote, StorageError } from '@scratchfs/core';
import { ObjectTreeStorage } from '@scratchfs/core/object-tree';
import { decode, parseOptions, type SqlStorageOptions, takeName } from './options.js';
import { openDatabase, type SqliteDatabase } from './sqlite-database.js';
import { SqliteObjectStore } from './sqlite-object-store.js';

export interface SqliteStorageOptions extends SqlStorageOptions {
  /**
   * Failures that a completed write survives. `fsync`: a power failure. `process`: the end of the process; after a
   * power failure the newest commits may be missing, and the rest is whole. Default `fsync`.
   */
  readonly durability?: 'fsync' | 'process' | undefined;
}

/**
 * A filesystem in a SQLite database that several processes share. Give it a connection of `node:sqlite`,
 * `better-sqlite3`, `libsql` or `bun:sqlite` that nothing else uses at the same time, or a path or URL
 * (`sqlite:/path/to/file?name=main`). The file of a path or URL is opened at the first call, with one of these drivers
 * that is installed. A file that can be written is set to write-ahead logging. A given connection stays open.
 * @throws TypeError, RangeError for options or a URL of a wrong kind
 */
export class SqliteStorage extends ObjectTreeStorage {
  constructor(database: SqliteDatabase | string | URL, options: SqliteStorageOptions = {}) {
    const { open, path, isOwned, name: nameInUrl } = parseDatabase(database);
    const { durability = 'fsync', ...rest } = options;
    const { name, tree } = parseOptions('SqliteStorage', rest, nameInUrl);
    if (durability !== 'fsync' && durability !== 'process')
      throw new TypeError(`durability must be "fsync" or "process", not ${JSON.stringify(durability)}`);
    const openExisting = async (): Promise<SqliteDatabase> => {
      if (tree.create !== false || path === undefined || existsSync(path)) return open();
      throw new StorageError('lost', `The SQLite file ${quote(path)} does not exist, and create is false`);
    };
    super(new SqliteObjectStore(openExisting, name, isOwned, durability === 'fsync'), tree);
  }

  /** Returns the names of the filesystems in a database, sorted; none if there is no file. @throws StorageError */
  static async list(database: SqliteDatabase | string | URL): Promise<string[]> {
    const { open, path, isOwned } = parseDatabase(database);
    // Opening would create a missing file.
    if (path !== undefined && !existsSync(path)) return [];
    const store = new SqliteObjectStore(open, 'default', isOwned, true);
    try {
      return await store.names();
    } finally {
      await store.close();
    }
  }
}

function parseDatabase(database: unknown): {
  readonly open: () => Promise<SqliteDatabase>;
  /** Undefined for a given connection. */
  readonly path?: string | undefined;
  readonly isOwned: boolean;
  readonly name?: string | undefined;
} {
  if (typeof database === 'object' && database !== null && !(database instanceof URL)) {
    for (const method of ['exec', 'prepare', 'close'])
      if (typeof (database as Record<string, unknown>)[method] !== 'function')
        throw new TypeError(`A SQLite connection has exec, prepare and close; this one has no ${method}`);
    return { open: async () => database as SqliteDatabase, isOwned: false };
  }
  const text = String(database);
  if (text === '' || text.includes('\0') || (typeof database !== 'string' && !(database instanceof URL)))
    throw new TypeError('A SqliteStorage needs a connection, a path or a URL such as sqlite:/path/to/file');
  if (!/^(sqlite|file):/i.test(text)) return { open: () => openDatabase(text), path: text, isOwned: true };
  const { url, name } = takeName(text);
  const path = pathOf(url);
  return { open: () => openDatabase(path), path, isOwned: true, name };
}

/** Returns the path in a URL: `sqlite:relative`, `sqlite:/absolute`, `sqlite:///absolute`, `file:///absolute`. */
function pathOf(url: string): string {
  if (/\?/.test(url)) throw new TypeError('The URL of a SqliteStorage has an unknown parameter. Known is name');
  if (/^file:/i.test(url)) return fileURLToPath(url);
  const path = decode(url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, ''));
  if (path === '' || path.startsWith('//'))
    throw new TypeError('The URL of a SqliteStorage must look like sqlite:/path/to/file?name=main');
  return path;
}
