import { type FSWatcher, watch } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '@scratchfs/core';
import type { NamePage, ObjectStore, StoredHead } from '@scratchfs/core/object-tree';
import { hasCode, toStorageError, unlinkIfPresent } from './disk-errors.js';
import { NumberedHeads } from './numbered-heads.js';
import { StoreDirectory } from './store-directory.js';

/** Interval at which a watched head is looked at, even if the host has reported nothing. */
const LOOK_INTERVAL_MS = 1_000;

/** Maximum number of files that are deleted at the same time. */
const DELETIONS = 16;

/** Stores the objects of a filesystem as files of one flat directory, and its head as numbered files. */
export class DiskObjectStore implements ObjectStore {
  readonly #directory: StoreDirectory;
  readonly #heads: NumberedHeads;

  constructor(parent: string, name: string, isFlushed: boolean) {
    this.#directory = new StoreDirectory(parent, name, isFlushed);
    this.#heads = new NumberedHeads(this.#directory);
  }

  get(name: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    return reporting(async () => {
      let file: Awaited<ReturnType<typeof open>>;
      try {
        file = await open(this.#path(name), 'r');
      } catch (error) {
        if (!hasCode(error, 'ENOENT')) throw error;
        // Throws if the directory has vanished: then it is unknown whether the object existed.
        await this.#directory.exists();
        return undefined;
      }
      try {
        const { size } = await file.stat();
        const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)));
        let read = 0;
        while (read < bytes.length) {
          const { bytesRead } = await file.read(bytes, read, bytes.length - read, offset + read);
          if (bytesRead === 0) break;
          read += bytesRead;
        }
        return bytes.subarray(0, read);
      } finally {
        await file.close();
      }
    });
  }

  put(name: string, bytes: Uint8Array): Promise<void> {
    return reporting(() => this.#directory.writeObject(fileOf(name), bytes));
  }

  delete(names: readonly string[]): Promise<void> {
    return reporting(async () => {
      const rest = [...names];
      const work = async (): Promise<void> => {
        for (let name = rest.pop(); name !== undefined; name = rest.pop()) await unlinkIfPresent(this.#path(name));
      };
      await Promise.all(Array.from({ length: DELETIONS }, work));
    });
  }

  list(prefix: string): Promise<NamePage> {
    return reporting(async () => {
      const start = prefix.replaceAll('/', SLASH);
      if (!(await this.#directory.exists())) return { names: [], cursor: undefined };
      const files = await readdir(this.#directory.objects);
      const names = files.filter((file) => file.startsWith(start)).map((file) => file.replaceAll(SLASH, '/'));
      return { names, cursor: undefined };
    });
  }

  readHead(known: string | undefined): Promise<StoredHead | 'unchanged' | undefined> {
    return reporting(() => this.#heads.read(known));
  }

  swapHead(bytes: Uint8Array, expected: string | undefined): Promise<string | undefined> {
    return reporting(() => this.#heads.swap(bytes, expected));
  }

  /**
   * Calls `changed` at each report of the host, and each second: a network filesystem reports only changes of this
   * machine, and a directory that does not exist yet cannot be watched.
   */
  watch(changed: () => void, fail: (error: unknown) => void): () => void {
    let watcher: FSWatcher | undefined;
    const stop = (): void => {
      clearInterval(timer);
      watcher?.close();
    };
    const end = (error: unknown): void => {
      stop();
      fail(toStorageError(error));
    };
    const begin = (): void => {
      try {
        watcher = watch(this.#directory.heads, () => changed());
        watcher.on('error', end);
      } catch (error) {
        // The directory may not exist yet, or the host may have no watches left. The timer is enough then.
        if (!hasCode(error, 'ENOENT', 'EMFILE', 'ENFILE', 'ENOSPC')) throw error;
      }
    };
    const timer = setInterval(() => {
      try {
        if (watcher === undefined) begin();
      } catch (error) {
        end(error);
        return;
      }
      changed();
    }, LOOK_INTERVAL_MS);
    try {
      begin();
    } catch (error) {
      stop();
      throw toStorageError(error);
    }
    return stop;
  }

  deleteHead(): Promise<void> {
    return reporting(() => this.#heads.delete());
  }

  #path(name: string): string {
    return join(this.#directory.objects, fileOf(name));
  }
}

/** Stands for a slash in the name of a file; names of objects do not contain it. */
const SLASH = '_';
const NAME = /^[a-z0-9-][a-z0-9./-]{0,249}$/;

function fileOf(name: string): string {
  if (!NAME.test(name))
    throw new StorageError('unsupported', 'An object has a name that the disk storage does not use');
  return name.replaceAll('/', SLASH);
}

async function reporting<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStorageError(error);
  }
}
