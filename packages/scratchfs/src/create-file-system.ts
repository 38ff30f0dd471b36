import {
  type AsyncStorage,
  type FileSystem,
  type FileSystemOptions,
  openFileSystem,
  type SyncFileSystem,
  type SyncStorage,
} from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';

export interface CreateFileSystemOptions<S extends SyncStorage | AsyncStorage = SyncStorage> extends FileSystemOptions {
  /** Where entries are kept. Default: a new {@link MemoryStorage}. */
  readonly storage?: S | undefined;
}

/**
 * A filesystem: in memory, or on the storage that is given. On a synchronous storage it is ready at once and every
 * method also exists as `…Sync`; on an asynchronous one a promise answers it.
 *
 * @throws TypeError, RangeError for options of a wrong kind; FsError ENOSPC, EFBIG where `files` exceed the limits
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 *
 * const fs = createFileSystem({ files: { '/notes.txt': 'hello' }, limits: { maxTotalSize: 1_000_000 } });
 * const before = fs.checkpointSync();
 * fs.writeFileSync('/notes.txt', 'goodbye');
 * fs.rollbackSync(before);
 * console.log(fs.readTextSync('/notes.txt')); // hello
 * ```
 */
export function createFileSystem(options?: CreateFileSystemOptions<SyncStorage>): SyncFileSystem;
export function createFileSystem(options: CreateFileSystemOptions<AsyncStorage>): Promise<FileSystem>;
export function createFileSystem(
  options: CreateFileSystemOptions<SyncStorage | AsyncStorage> = {},
): SyncFileSystem | Promise<FileSystem> {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(
      `The options of createFileSystem must be an object, not ${options === null ? 'null' : typeof options}`,
    );
  }
  const { storage, ...rest } = options;
  return openFileSystem(storage ?? new MemoryStorage({ clock: rest.clock }), rest);
}
