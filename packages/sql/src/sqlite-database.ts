import { StorageError } from '@scratchfs/core';

export interface SqliteStatement {
  get(...parameters: never[]): unknown;
  all(...parameters: never[]): unknown[];
  run(...parameters: never[]): unknown;
}

/**
 * The used methods of a connection, which `node:sqlite`, `better-sqlite3`, `libsql` and `bun:sqlite` have in common.
 */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

export type Value = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, unknown>>;

type Opener = (path: string) => Promise<SqliteDatabase>;

type DatabaseClass = new (path: string) => SqliteDatabase;

/**
 * Drivers that can open a file, tried in this order. `import()` gets their names from a variable, so that bundlers do
 * not look for them.
 */
const OPENERS: Readonly<Record<string, Opener>> = {
  'bun:sqlite': async (path) => open('bun:sqlite', 'Database', path),
  'node:sqlite': async (path) => open('node:sqlite', 'DatabaseSync', path),
  'better-sqlite3': async (path) => open('better-sqlite3', 'default', path),
  libsql: async (path) => open('libsql', 'default', path),
};

async function open(module: string, name: string, path: string): Promise<SqliteDatabase> {
  const loaded = (await import(/* @vite-ignore */ /* webpackIgnore: true */ module)) as Record<string, DatabaseClass>;
  return new (loaded[name] as DatabaseClass)(path);
}

/**
 * Opens a file with the first driver that is installed.
 * @throws StorageError `unsupported` if there is none
 */
export async function openDatabase(path: string): Promise<SqliteDatabase> {
  for (const opener of Object.values(OPENERS)) {
    try {
      return await opener(path);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  throw new StorageError(
    'unsupported',
    'No SQLite driver was found: use Node 22.5 or newer, or npm install better-sqlite3',
  );
}

function isMissing(error: unknown): boolean {
  const { code, message = '' } = error as NodeJS.ErrnoException;
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND' || code === 'ERR_UNKNOWN_BUILTIN_MODULE')
    return true;
  return code === 'ERR_UNSUPPORTED_ESM_URL_SCHEME' || /Cannot find (module|package)|No such built-in/.test(message);
}
