import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { HAS_DESCRIPTOR_PATHS } from './anchor.js';
import { isCode } from './host-error.js';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_WRONLY, O_CREAT, O_EXCL } = constants;

/**
 * A directory of the host, held by a descriptor, and what can be done with the names in it. Names are looked up in this very
 * directory and links are never followed, so that nobody who swaps directories and links meanwhile leads a call elsewhere.
 * Elsewhere than on Linux it is held by its path, as {@link HAS_DESCRIPTOR_PATHS} says.
 */
export class HeldDirectory implements Disposable {
  private constructor(
    readonly path: string,
    readonly descriptor: number | undefined,
  ) {}

  /** Links on the way to a directory that the caller names are followed. @throws what `realpath` and `open` throw */
  static at(directory: string): HeldDirectory {
    return HeldDirectory.#open(realpathSync(directory));
  }

  static #open(path: string): HeldDirectory {
    const descriptor = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (HAS_DESCRIPTOR_PATHS) return new HeldDirectory(`/proc/self/fd/${descriptor}`, descriptor);
    closeSync(descriptor);
    return new HeldDirectory(path, undefined);
  }

  /** A directory in this one. @throws ENOENT, ENOTDIR also for a link */
  enter(name: string): HeldDirectory {
    return HeldDirectory.#open(this.child(name));
  }

  child(name: string): string {
    return join(this.path, name);
  }

  names(): string[] {
    return readdirSync(`${this.path}/.`);
  }

  /** What a name stands for, a link not followed; undefined for nothing. */
  stat(name: string): BigIntStats | undefined {
    return lstatSync(this.child(name), { bigint: true, throwIfNoEntry: false });
  }

  /** The bytes of a regular file with what it was at that moment, or undefined where it is none (any more). */
  read(name: string): { readonly bytes: Buffer; readonly stat: BigIntStats } | undefined {
    let file: number;
    try {
      file = openSync(this.child(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    } catch (error) {
      if (isCode(error, 'ENOENT', 'ELOOP', 'ENXIO', 'ENOTDIR')) return undefined;
      throw error;
    }
    try {
      const stat = fstatSync(file, { bigint: true });
      return stat.isFile() ? { bytes: readFileSync(file), stat } : undefined;
    } finally {
      closeSync(file);
    }
  }

  /** The bytes of a link's target; undefined where it is no link (any more). */
  readLink(name: string): Buffer | undefined {
    try {
      return readlinkSync(this.child(name), { encoding: 'buffer' });
    } catch (error) {
      if (isCode(error, 'ENOENT', 'EINVAL', 'ENOTDIR')) return undefined;
      throw error;
    }
  }

  makeDirectory(name: string): void {
    mkdirSync(this.child(name));
  }

  /** A file that is complete or not there under its name; what had the name is replaced in one step. */
  write(name: string, bytes: Uint8Array, mode: number, temporary: string): void {
    const place = this.child(temporary);
    const file = openSync(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    this.#place(name, temporary, () => {
      try {
        writeFileSync(file, bytes);
      } finally {
        closeSync(file);
      }
    });
  }

  link(name: string, target: Uint8Array, temporary: string): void {
    symlinkSync(Buffer.from(target), this.child(temporary));
    this.#place(name, temporary, () => undefined);
  }

  /** Finishes what has a temporary name and gives it its own; where that fails, nothing is left of it. */
  #place(name: string, temporary: string, finish: () => void): void {
    try {
      finish();
      renameSync(this.child(temporary), this.child(name));
    } catch (error) {
      rmSync(this.child(temporary), { force: true });
      throw error;
    }
  }

  /** Removes whatever has a name, a directory with all in it; nothing that a link leads to. */
  remove(name: string): void {
    const stat = this.stat(name);
    if (stat === undefined) return;
    if (!stat.isDirectory()) {
      unlinkSync(this.child(name));
      return;
    }
    const inside = this.enter(name);
    try {
      for (const child of inside.names()) inside.remove(child);
    } finally {
      inside[Symbol.dispose]();
    }
    rmdirSync(this.child(name));
  }

  /** Removes a directory if nothing is in it. */
  removeEmpty(name: string): boolean {
    try {
      rmdirSync(this.child(name));
      return true;
    } catch (error) {
      if (isCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EBUSY')) return false;
      throw error;
    }
  }

  [Symbol.dispose](): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor);
  }
}
