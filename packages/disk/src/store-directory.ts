import { randomBytes } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { quote, StorageError } from '@scratchfs/core';
import { hasCode } from './disk-errors.js';

/** Age in milliseconds from which a temporary file counts as left behind by a process that has ended. */
const ABANDONED_MS = 3_600_000;

/** A file that has been written and gets its name now. */
export interface TemporaryFile {
  readonly path: string;
  /** See {@link fileIdentity}. */
  readonly identity: string;
}

/**
 * The directory of one filesystem: `heads`, `objects`, and `temporary` for files that are being written. It is created
 * by the first write, with mode 0700. A directory that vanishes or is replaced while it is in use is an error: writing
 * on would mix two filesystems.
 */
export class StoreDirectory {
  readonly heads: string;
  readonly objects: string;
  readonly #directory: string;
  readonly #parent: string;
  readonly #temporary: string;
  readonly #isFlushed: boolean;
  /** Device and inode of the directory in use. */
  #identity: string | undefined;
  #isSwept = false;

  constructor(parent: string, name: string, isFlushed: boolean) {
    this.#parent = resolve(parent);
    this.#directory = join(this.#parent, name);
    this.heads = join(this.#directory, 'heads');
    this.objects = join(this.#directory, 'objects');
    this.#temporary = join(this.#directory, 'temporary');
    this.#isFlushed = isFlushed;
  }

  /**
   * Reports whether the directory exists.
   * @throws StorageError, such as `denied` if it is not a directory or another user could write to it; `lost` if it is
   * not the one used before
   */
  async exists(): Promise<boolean> {
    const found = await statIfPresent(this.#directory);
    const identity = found && `${found.dev}:${found.ino}`;
    if (identity !== undefined && identity === this.#identity) return true;
    if (this.#identity !== undefined) {
      const what = identity === undefined ? 'no longer exists' : 'was replaced by another directory';
      throw new StorageError('lost', `${quote(this.#directory)} ${what} while the storage was in use`);
    }
    if (identity === undefined) return false;
    await this.#checkOwner();
    this.#identity = identity;
    return true;
  }

  /** Creates what is missing of the directory. */
  async #create(): Promise<void> {
    if (!(await this.exists())) await this.#checkOwner();
    let first: string | undefined;
    for (const folder of [this.heads, this.objects, this.#temporary]) {
      const created = await mkdir(folder, { recursive: true, mode: 0o700 });
      first ??= created;
    }
    if (this.#isFlushed && first !== undefined) {
      // The names of new directories are in the directories above them.
      for (let path = this.#directory; ; path = dirname(path)) {
        await flushDirectory(path);
        if (path === dirname(first) || path === dirname(path)) break;
      }
    }
    await this.exists();
  }

  /**
   * Writes a temporary file and calls `place`, which renames it into `folder`, or links it there and removes the
   * temporary name. If anything fails, the temporary file is removed. Once `write` has resolved, the file and its name
   * survive the failures that the durability names.
   */
  async write<T>(folder: string, bytes: Uint8Array, place: (temporary: TemporaryFile) => Promise<T>): Promise<T> {
    const path = join(this.#temporary, randomBytes(12).toString('hex'));
    const file = await this.#createFile(path);
    if (!this.#isSwept) void this.#sweep();
    try {
      let identity: string;
      try {
        // Unlike `writev`, it goes on after a short write, so that a full disk is an error.
        await file.writeFile(bytes);
        if (this.#isFlushed) await file.sync();
        identity = identityOf(await file.stat({ bigint: true }));
      } finally {
        await file.close();
      }
      const result = await place({ path, identity });
      if (this.#isFlushed) await flushDirectory(folder);
      return result;
    } catch (error) {
      await unlink(path).catch(() => {});
      throw error;
    }
  }

  async #createFile(path: string): Promise<FileHandle> {
    try {
      return await open(path, 'wx', 0o600);
    } catch (error) {
      if (!hasCode(error, 'ENOENT') && !hasCode(error, 'ENOTDIR')) throw error;
      await this.#create();
      return open(path, 'wx', 0o600);
    }
  }

  /** Stores an object under its file name. */
  async writeObject(file: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.objects, file);
    await this.write(this.objects, bytes, (temporary) => rename(temporary.path, path));
  }

  async #checkOwner(): Promise<void> {
    const uid = process.getuid?.();
    for (const path of [this.#parent, this.#directory]) {
      const found = await stat(path).catch((error: unknown) => {
        if (hasCode(error, 'ENOENT')) return undefined;
        throw error;
      });
      if (found === undefined) return;
      if (!found.isDirectory()) throw new StorageError('denied', `${quote(path)} is not a directory`);
      if (uid === undefined) continue;
      if (found.uid !== uid) {
        throw new StorageError(
          'denied',
          `${quote(path)} belongs to user ${found.uid}, not to this process (user ${uid}): use a directory of your own`,
        );
      }
      if ((found.mode & 0o022) !== 0) {
        throw new StorageError(
          'denied',
          `Other users can write to ${quote(path)} (mode ${(found.mode & 0o777).toString(8)}): chmod 700 it, or use ` +
            'another directory',
        );
      }
    }
  }

  /** Removes old temporary files, which processes that were killed have left. */
  async #sweep(): Promise<void> {
    this.#isSwept = true;
    const names = await readdir(this.#temporary).catch(() => []);
    for (const name of names) {
      const path = join(this.#temporary, name);
      const found = await lstat(path).catch(() => undefined);
      if (found !== undefined && Date.now() - found.mtimeMs > ABANDONED_MS) await unlink(path).catch(() => {});
    }
  }
}

/**
 * Returns a text that identifies a file or directory. The time distinguishes it from a later one with the same inode
 * number, unless both are from one tick of the clock.
 */
function identityOf({ dev, ino, mtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${mtimeNs}`;
}

/** Returns the identity of a file that is not changed any more; undefined if it does not exist. */
export async function fileIdentity(path: string): Promise<string | undefined> {
  const found = await statIfPresent(path);
  return found && identityOf(found);
}

/** Reads a file that is not changed any more, and its identity. */
export async function readIdentified(path: string): Promise<{ readonly identity: string; readonly bytes: Buffer }> {
  const file = await open(path, 'r');
  try {
    return { identity: identityOf(await file.stat({ bigint: true })), bytes: await file.readFile() };
  } finally {
    await file.close();
  }
}

async function statIfPresent(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

/**
 * Waits until names that were created in a directory are on the disk. Does nothing on Windows, which cannot flush
 * directories.
 */
async function flushDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
