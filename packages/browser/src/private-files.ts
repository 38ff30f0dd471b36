import { isStorageError, StorageError } from '@scratchfs/core';
import { toStorageError } from './indexed-db-errors.js';

/** Bytes per write. One write of 16 MiB takes three times as long in Chromium as sixteen of 1 MiB. */
const WRITE_BYTES = 2 ** 20;

/**
 * The part of a worker's file handle that TypeScript's library of pages does not have. Browsers of 2022 return promises
 * from all methods but `write`.
 */
interface WorkerFileHandle {
  createSyncAccessHandle(): Promise<{
    write(bytes: Uint8Array, options: { readonly at: number }): number;
    getSize(): number | Promise<number>;
    truncate(size: number): void | Promise<void>;
    flush(): void | Promise<void>;
    close(): void | Promise<void>;
  }>;
}

/** Reports whether private files can be written here, which only dedicated workers can. */
export function canWriteFiles(): boolean {
  const { FileSystemFileHandle: handle } = globalThis as { FileSystemFileHandle?: { readonly prototype: object } };
  return handle !== undefined && 'createSyncAccessHandle' in handle.prototype;
}

/** Files in a folder of the origin private file system. Pages can read and delete them too. */
export class PrivateFiles {
  readonly #folderName: string;

  constructor(folderName: string) {
    this.#folderName = encodeURIComponent(folderName);
  }

  /** Reads bytes of a file. Returns undefined if it does not exist. */
  async read(name: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    return ifFound(async () => {
      const handle = await (await this.#folder(false)).getFileHandle(encodeURIComponent(name));
      const file = await handle.getFile();
      return new Uint8Array(await file.slice(offset, offset + length).arrayBuffer());
    });
  }

  /** Writes a file and waits for the disk. A new file that could not be written remains, empty. */
  async write(name: string, bytes: Uint8Array): Promise<void> {
    try {
      const file: unknown = await (await this.#folder(true)).getFileHandle(encodeURIComponent(name), { create: true });
      const handle = await (file as WorkerFileHandle).createSyncAccessHandle();
      let isNew = false;
      try {
        // A file with content was written by an earlier request for the same object, and may be in use.
        isNew = (await handle.getSize()) === 0;
        for (let at = 0; at < bytes.length; at += WRITE_BYTES) {
          const part = bytes.subarray(at, at + WRITE_BYTES);
          // In a private window, Chromium returns 4294967288 if there is no space.
          if (handle.write(part, { at }) !== part.length) throw new DOMException('', 'QuotaExceededError');
        }
        await handle.truncate(bytes.length);
        await handle.flush();
      } catch (error) {
        if (isNew) await handle.truncate(0);
        throw error;
      } finally {
        await handle.close();
      }
    } catch (error) {
      throw await fileError(error);
    }
  }

  /** Deletes files. Ignores missing ones. */
  async delete(names: readonly string[]): Promise<void> {
    await ifFound(async () => {
      const folder = await this.#folder(false);
      await Promise.all(names.map((name) => ifFound(() => folder.removeEntry(encodeURIComponent(name)))));
    }, 'denied');
  }

  /** Returns the names of the files that begin with `prefix`, unfinished ones included. */
  async list(prefix: string): Promise<string[]> {
    const names: string[] = [];
    await ifFound(async () => {
      for await (const name of (await this.#folder(false)).keys()) names.push(decodeURIComponent(name));
    }, 'denied');
    return names.filter((name) => name.startsWith(prefix));
  }

  /** Deletes the folder if it is empty. */
  async deleteFolder(): Promise<void> {
    await rootFolder()
      .then((root) => root.removeEntry(this.#folderName))
      .catch(() => {});
  }

  async #folder(create: boolean): Promise<FileSystemDirectoryHandle> {
    return (await rootFolder()).getDirectoryHandle(this.#folderName, { create });
  }
}

/** Returns the folder of the origin. @throws StorageError `denied` if there are no private files here */
async function rootFolder(): Promise<FileSystemDirectoryHandle> {
  const { storage } = globalThis.navigator ?? {};
  if (storage?.getDirectory === undefined)
    throw new StorageError('denied', 'There are no private files here: use https or localhost');
  try {
    return await storage.getDirectory();
  } catch (cause) {
    // In a private window, IndexedDB works, but this is a SecurityError in Firefox and an UnknownError in Safari.
    throw new StorageError('denied', `There are no private files here: ${cause}`, { cause });
  }
}

/** Returns the result of `work`, or undefined if a file or folder is missing, or for an error of the kind `ignored`. */
async function ifFound<T>(work: () => Promise<T>, ignored?: 'denied'): Promise<T | undefined> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'NotFoundError') return undefined;
    const error = await fileError(cause);
    if (ignored !== undefined && isStorageError(error, ignored)) return undefined;
    throw error;
  }
}

async function fileError(cause: unknown): Promise<unknown> {
  if (!(cause instanceof DOMException) || cause.name === 'QuotaExceededError') return toStorageError(cause);
  const isDenied = cause.name === 'SecurityError' || cause.name === 'NotAllowedError';
  const text = `The private files of this origin failed: ${cause.name}: ${cause.message}`;
  return new StorageError(isDenied ? 'denied' : 'unavailable', text, { cause });
}
