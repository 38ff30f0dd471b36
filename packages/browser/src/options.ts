import { checkFileSystemName, checkOptions } from '@scratchfs/core/internal';
import { OBJECT_TREE_OPTIONS, type ObjectTreeOptions } from '@scratchfs/core/object-tree';

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
}

/** Checked options with their defaults. The object tree checks its own options, `tree`, later. */
export interface Settings {
  readonly name: string;
  readonly database: string;
  readonly isFlushed: boolean;
  readonly tree: ObjectTreeOptions;
}

/** Checks a caller's name and options; own properties only. @throws TypeError for a wrong value or an unknown option */
export function parseOptions(name: unknown, options: IndexedDbStorageOptions | undefined): Settings {
  const known = ['database', 'durability', ...OBJECT_TREE_OPTIONS];
  const {
    database,
    durability = 'process',
    ...tree
  } = checkOptions<IndexedDbStorageOptions>(options, known, 'IndexedDbStorage', false);
  if (durability !== 'fsync' && durability !== 'process')
    throw new TypeError(`durability must be "fsync" or "process", not ${JSON.stringify(durability)}`);
  return {
    name: checkFileSystemName(name),
    database: checkDatabase(database),
    isFlushed: durability === 'fsync',
    tree,
  };
}

/** Returns the name of the database. @throws TypeError for a wrong value or an unknown option */
export function parsePlace(place: IndexedDbPlace | undefined): string {
  return checkDatabase(checkOptions<IndexedDbPlace>(place, ['database'], 'IndexedDbStorage.list', false).database);
}

function checkDatabase(database: unknown): string {
  if (database === undefined) return 'scratchfs';
  if (typeof database !== 'string' || database === '') throw new TypeError('database must be a text, and not empty');
  return database;
}
