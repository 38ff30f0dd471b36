import { readdir } from 'node:fs/promises';
import { ObjectTreeStorage } from '@scratchfs/core/object-tree';
import { hasCode, toStorageError } from './disk-errors.js';
import { DiskObjectStore } from './disk-object-store.js';
import { type DiskStorageOptions, isFileSystemName, parseOptions, parseTarget } from './options.js';

/**
 * A filesystem in a directory of the disk that several processes share. Give it the path of a directory, or a URL:
 * `file:///path?name=…&durability=…`. The directory is created with mode 0700 by the first write; one that another user
 * owns or can write to is refused. Nothing is read or written before the first call.
 *
 * A filesystem that someone has replaced or removed while it is in use fails with a `StorageError` of kind `lost`; a
 * full disk is `full`, and missing permission `denied`.
 * @throws TypeError, RangeError for options or a URL of a wrong kind
 */
export class DiskStorage extends ObjectTreeStorage {
  constructor(directory: string | URL, options?: DiskStorageOptions) {
    const settings = parseOptions(directory, options);
    super(new DiskObjectStore(settings.directory, settings.name, settings.isFlushed), settings.tree);
  }

  /**
   * Returns the names of the filesystems in a directory, sorted; none if it does not exist.
   * @throws StorageError `denied` if it cannot be read
   */
  static async list(directory: string | URL): Promise<string[]> {
    const path = parseTarget(directory).directory;
    let names: string[];
    try {
      names = await readdir(path);
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return [];
      throw toStorageError(error);
    }
    const found: string[] = [];
    for (const name of names.filter(isFileSystemName).sort())
      if ((await new DiskObjectStore(path, name, false).readHead(undefined)) !== undefined) found.push(name);
    return found;
  }
}
