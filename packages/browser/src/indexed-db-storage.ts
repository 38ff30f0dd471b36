import { ObjectTreeStorage } from '@scratchfs/core/object-tree';
import { browserTimer } from './browser-timer.js';
import { IndexedDbObjectStore } from './indexed-db-object-store.js';
import { type IndexedDbPlace, type IndexedDbStorageOptions, parseOptions, parsePlace } from './options.js';

/**
 * A filesystem in the browser's IndexedDB that several tabs and workers of an origin share. Nothing is read or written
 * before the first call.
 *
 * Failures are `StorageError`s. If the origin has no more space, a write fails with the kind `full`, and the message
 * says how much is used if the browser tells it. After the user or another tab has deleted the database, calls fail
 * with `lost`; with a database of a newer version, with `version`.
 * @throws TypeError, RangeError for options of a wrong kind; StorageError `unsupported` for `contents: 'opfs'` outside
 *   a dedicated worker
 */
export class IndexedDbStorage extends ObjectTreeStorage {
  /**
   * @param name name of the filesystem; an origin holds any number of them. 1 to 100 characters of `a-z`, `0-9`, `-`,
   *   `_` and `.`, beginning with a letter or digit. Default `default`.
   */
  constructor(name?: string, options?: IndexedDbStorageOptions) {
    const settings = parseOptions(name, options);
    const { database, isFlushed, minFileBytes } = settings;
    super(new IndexedDbObjectStore(database, settings.name, isFlushed, minFileBytes), {
      timer: browserTimer,
      ...settings.tree,
    });
  }

  /** Returns the names of the filesystems in a database of the origin, sorted. @throws StorageError */
  static async list(place?: IndexedDbPlace): Promise<string[]> {
    const store = new IndexedDbObjectStore(parsePlace(place), 'default', false);
    try {
      return await store.names();
    } finally {
      await store.close();
    }
  }

  /**
   * Asks the browser to keep everything that the origin has stored until the user deletes it. Without that, a browser
   * may delete all of it when space is short. Resolves to true if the browser agrees; in a worker, which cannot ask, to
   * true if it has agreed before.
   */
  static async persist(): Promise<boolean> {
    const { storage } = navigator;
    return 'persist' in storage ? await storage.persist() : await (storage as StorageManager).persisted();
  }
}
