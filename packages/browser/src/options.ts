import { StorageError } from '@scratchfs/core';
import { checkFileSystemName, checkOptions } from '@scratchfs/core/internal';
import { OBJECT_TREE_OPTIONS, type ObjectTreeOptions } from '@scratchfs/core/object-tree';
import { canWriteFiles } from './private-files.js';

/** Size from which a new object becomes a private file. In Chromium, 256 KiB are still as fast in IndexedDB. */
const MIN_FILE_BYTES = 2 ** 20;

/** The place of filesystems within an origin. */
export interface IndexedDbPlace {
  /** Name of the IndexedDB database; it holds any number of filesystems. Default `scratchfs`. */
  readonly database?: string | undefined;
}

export interface IndexedDbStorageOptions extends ObjectTreeOptions, IndexedDbPlace {
  /**
   * Failures that a completed write survives. `process`: the end of the tab and of the browser; after a power failure
   * the newest commits may be missing, and the rest is whole. `fsync`: a power failure; every commit waits for the
   * disk. Default `process`, as IndexedDB itself.
   */
  readonly durability?: 'fsync' | 'process' | undefined;
  /**
   * Where contents of 1 MiB and more are written: to the database, or with `opfs` to files in the origin private file
   * system, which is faster. Only dedicated workers can write them; every page reads them, with or without the option.
   * Default `database`.
   */
  readonly contents?: 'database' | 'opfs' | undefined;
}

/** Checked options with their defaults. The object tree checks its own options, `tree`, later. */
export interface Settings {
  readonly name: string;
  readonly database: string;
  readonly isFlushed: boolean;
  /** Undefined: no object becomes a file. */
  readonly minFileBytes: number | undefined;
  readonly tree: ObjectTreeOptions;
}

/** Checks a caller's name and options; own properties only. @throws TypeError for a wrong value or an unknown option */
export function parseOptions(name: unknown, options: IndexedDbStorageOptions | undefined): Settings {
  const known = ['database', 'durability', 'contents', ...OBJECT_TREE_OPTIONS];
  const {
    database,
    durability = 'process',
    contents = 'database',
    ...tree
  } = checkOptions<IndexedDbStorageOptions>(options, known, 'IndexedDbStorage', false);
  if (durability !== 'fsync' && durability !== 'process')
    throw new TypeError(`durability must be "fsync" or "process", not ${JSON.stringify(durability)}`);
  if (contents !== 'database' && contents !== 'opfs')
    throw new TypeError(`contents must be "database" or "opfs", not ${JSON.stringify(contents)}`);
  if (contents === 'opfs' && !canWriteFiles())
    throw new StorageError(
      'unsupported',
      'Only dedicated workers can write private files: use contents "opfs" in a worker, and leave it out elsewhere, where the contents are read without it',
    );
  return {
    name: checkFileSystemName(name),
    database: checkDatabase(database),
    isFlushed: durability === 'fsync',
    minFileBytes: contents === 'opfs' ? MIN_FILE_BYTES : undefined,
    tree,
  };
}

/** Returns the name of the database. @throws TypeError for a wrong value or an unknown option */
export function parsePlace(place: IndexedDbPlace | undefined): string {
  return checkDatabase(checkOptions<IndexedDbPlace>(place, ['database'], 'IndexedDbStorage.list', false).database);
}

function checkDatabase(database: unknown): string {
  if (database === undefined) return 'scratchfs';
  // A single surrogate cannot be encoded in the name of a folder.
  if (typeof database !== 'string' || database === '' || /\p{Surrogate}/u.test(database))
    throw new TypeError('database must be a text, not empty and without single surrogates');
  return database;
}
