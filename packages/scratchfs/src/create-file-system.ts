import {
  type AsyncStorage,
  type FileSystem,
  type FileSystemOptions,
  openFileSystem,
  openInMemory,
  type SyncFileSystem,
  type SyncStorage,
} from '@scratchfs/core';
import { checkOptions, checkPlainObject, FILE_SYSTEM_OPTIONS } from '@scratchfs/core/internal';
import type { MemoryStorage } from '@scratchfs/memory';
import { openStorage } from './open-storage.js';

export interface CreateFileSystemOptions<S extends SyncStorage | AsyncStorage | string = SyncStorage>
  extends FileSystemOptions {
  /** Storage of the entries, or a URL for {@link openStorage}. Default: a new {@link MemoryStorage}. */
  readonly storage?: S | undefined;
}

/**
 * Creates a filesystem: in memory, or on the given storage. On a synchronous storage it is returned directly and most
 * methods also exist as `…Sync`; for an asynchronous one, or a URL, the result is a promise.
 *
 * @throws TypeError, RangeError for invalid options; FsError ENOSPC, EFBIG if `files` exceed the limits; StorageError
 *   if the storage fails, `unsupported` if the package of a URL's storage cannot be imported
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
export function createFileSystem(options: CreateFileSystemOptions<AsyncStorage | string>): Promise<FileSystem>;
export function createFileSystem(
  options: CreateFileSystemOptions<SyncStorage | AsyncStorage | string> = {},
): SyncFileSystem | Promise<FileSystem> {
  checkOptions(options, ['storage', ...FILE_SYSTEM_OPTIONS], 'createFileSystem', false);
  checkPlainObject(options, 'The options of createFileSystem');
  const { storage, ...rest } = options;
  if (typeof storage === 'string') return openAt(storage, rest);
  return storage === undefined ? openInMemory(rest) : openFileSystem(storage, rest);
}

async function openAt(url: string, options: FileSystemOptions): Promise<FileSystem> {
  const storage = await openStorage(url);
  try {
    return await openFileSystem(storage, { ...options, closesStorage: true });
  } catch (error) {
    await storage.close();
    throw error;
  }
}
