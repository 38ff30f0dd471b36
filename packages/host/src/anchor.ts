import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { isCode } from './host-error.js';

/** Opens without reading, and without waking what a FIFO or a device would do (Linux, open(2)). */
export const O_PATH = 0o10000000;

/** Whether names are looked up beneath open descriptors, so that nobody can swap what has been checked. */
export const HAS_DESCRIPTOR_PATHS = process.platform === 'linux';

/**
 * One thing on the host, held. On Linux by a descriptor: `path` means this very thing, whatever happens to its name.
 * Elsewhere by its path, which somebody else may swap: `guaranteesOf` says so.
 */
export class Anchor implements AsyncDisposable {
  private constructor(
    readonly path: string,
    readonly stat: BigIntStats,
    readonly handle: FileHandle | undefined,
  ) {}

  /** The thing itself, a link not followed. @throws what `open` throws */
  static async at(path: string): Promise<Anchor> {
    if (!HAS_DESCRIPTOR_PATHS) return new Anchor(path, await lstat(path, { bigint: true }), undefined);
    const handle = await open(path, O_PATH | constants.O_NOFOLLOW);
    try {
      return new Anchor(`/proc/self/fd/${handle.fd}`, await handle.stat({ bigint: true }), handle);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get kind(): 'file' | 'directory' | 'symlink' | 'special' {
    if (this.stat.isFile()) return 'file';
    if (this.stat.isDirectory()) return 'directory';
    return this.stat.isSymbolicLink() ? 'symlink' : 'special';
  }

  /** Where a name in this directory is found. */
  child(name: string): string {
    return join(this.path, name);
  }

  /** What a name in this directory stands for; undefined for what is gone meanwhile, or has a name that is no text. */
  async enter(name: string): Promise<Anchor | undefined> {
    try {
      return await Anchor.at(this.child(name));
    } catch (error) {
      if (isCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  /** The file, opened to be read or written. Never waits: what is no regular file is not opened at all. */
  open(flags: number): Promise<FileHandle> {
    return open(this.path, flags | constants.O_NONBLOCK | (HAS_DESCRIPTOR_PATHS ? 0 : constants.O_NOFOLLOW));
  }

  async close(): Promise<void> {
    await this.handle?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
