import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { isFileSystemName } from '@scratchfs/core/internal';
import { ObjectTreeStorage } from '@scratchfs/core/object-tree';
import { hasCode, toStorageError } from './disk-errors.js';
import { DiskObjectStore } from './disk-object-store.js';
import { type DiskStorageOptions, parseOptions, parseTarget } from './options.js';

/**
 * A filesystem in a directory of the disk that several processes share. Give it the path of a directory, or a URL:
 * `file:///path?name=…&durability=…`. The directory is created with mode 0700 by the first write. Except on Windows, a
 * directory that another user owns or can write to is refused. Nothing is read or written before the first call.
 *
 * Calls fail with a `StorageError` of kind `lost` if the filesystem is replaced or removed while it is in use, `full`
 * if the disk is full, and `denied` if permission is missing.
 * @throws TypeError, RangeError for options or a URL of a wrong kind
 */
export class DiskStorage extends ObjectTreeStorage {
  constructor(directory: string | URL, options?: DiskStorageOptions) {
    const settings = parseOptions(directory, options);
    super(new DiskObjectStore(settings.directory, settings.name, settings.isFlushed), settings.tree);
  }

  /**
   * Returns the names of the filesystems in a directory, sorted; none if it does not exist. Those that this version
   * cannot read are among them.
   * @throws StorageError, such as `denied`, if the directory cannot be read
   */
  static async list(directory: string | URL): Promise<string[]> {
    const path = parseTarget(directory).directory;
    let entries: Dirent[];
    try {
      entries = await readdir(path, { withFileTypes: true });
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return [];
      throw toStorageError(error);
    }
    const found: string[] = [];
    for (const entry of entries)
      if (entry.isDirectory() && isFileSystemName(entry.name) && (await isFileSystem(path, entry.name)))
        found.push(entry.name);
    return found.sort();
  }
}

async function isFileSystem(directory: string, name: string): Promise<boolean> {
  try {
    return (await new DiskObjectStore(directory, name, false).readHead(undefined)) !== undefined;
  } catch {
    return true;
  }
}
