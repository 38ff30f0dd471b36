import {
  type BigIntStats,
  chmodSync,
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
import { HAS_DESCRIPTOR_PATHS, O_PATH } from './anchor.js';
import { isCode } from './host-error.js';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_WRONLY, O_CREAT, O_EXCL } = constants;

/** A name in a directory: as bytes where it is no UTF-8. */
export type HeldName = string | Buffer;

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

  static #open(path: HeldName): HeldDirectory {
    const descriptor = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (HAS_DESCRIPTOR_PATHS) return new HeldDirectory(`/proc/self/fd/${descriptor}`, descriptor);
    closeSync(descriptor);
    return new HeldDirectory(String(path), undefined);
  }

  /** A directory in this one. @throws ENOENT, ENOTDIR also for a link */
  enter(name: HeldName): HeldDirectory {
    return HeldDirectory.#open(this.#place(name));
  }

  /** The same, and from now on its owner may read and change it: programs leave modes behind in which nobody may. */
  enterAsOwner(name: HeldName): HeldDirectory {
    const stat = this.stat(name);
    if (stat?.isDirectory() === true && !isOpen(stat)) openToOwner(this.#place(name), stat);
    return this.enter(name);
  }

  child(name: string): string {
    return join(this.path, name);
  }

  names(): HeldName[] {
    const names = readdirSync(`${this.path}/.`);
    if (!names.some(mayBeBytes)) return names;
    return readdirSync(`${this.path}/.`, { encoding: 'buffer' }).map((bytes) => {
      const name = bytes.toString('utf8');
      return mayBeBytes(name) && !Buffer.from(name).equals(bytes) ? bytes : name;
    });
  }

  /** What a name stands for, a link not followed; undefined for nothing. */
  stat(name: HeldName): BigIntStats | undefined {
    return lstatSync(this.#place(name), { bigint: true, throwIfNoEntry: false });
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
    this.#finish(name, temporary, () => {
      try {
        writeFileSync(file, bytes);
      } finally {
        closeSync(file);
      }
    });
  }

  link(name: string, target: Uint8Array, temporary: string): void {
    symlinkSync(Buffer.from(target), this.child(temporary));
    this.#finish(name, temporary, () => undefined);
  }

  /** Moves a name from another directory into this one, in place of whatever file has the name here. */
  take(from: HeldDirectory, name: string): void {
    renameSync(from.child(name), this.child(name));
  }

  /** Finishes what has a temporary name and gives it its own; where that fails, nothing is left of it. */
  #finish(name: string, temporary: string, finish: () => void): void {
    try {
      finish();
      renameSync(this.child(temporary), this.child(name));
    } catch (error) {
      rmSync(this.child(temporary), { force: true });
      throw error;
    }
  }

  #place(name: HeldName): HeldName {
    return typeof name === 'string' ? this.child(name) : Buffer.concat([Buffer.from(`${this.path}/`), name]);
  }

  /** Removes whatever has a name, a directory with all in it; nothing that a link leads to. */
  remove(name: HeldName): void {
    const stat = this.stat(name);
    if (stat === undefined) return;
    if (!stat.isDirectory()) {
      unlinkSync(this.#place(name));
      return;
    }
    const inside = this.enterAsOwner(name);
    try {
      for (const child of inside.names()) inside.remove(child);
    } finally {
      inside[Symbol.dispose]();
    }
    rmdirSync(this.#place(name));
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

const ALL_OF_OWNER = 0o700;

function isOpen({ mode }: BigIntStats): boolean {
  return (Number(mode) & ALL_OF_OWNER) === ALL_OF_OWNER;
}

/** It is held meanwhile, so that it is no other one that is opened. */
function openToOwner(path: HeldName, stat: BigIntStats): void {
  const mode = (Number(stat.mode) & 0o7777) | ALL_OF_OWNER;
  if (!HAS_DESCRIPTOR_PATHS) {
    chmodSync(path, mode);
    return;
  }
  const held = openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  try {
    chmodSync(`/proc/self/fd/${held}`, mode);
  } finally {
    closeSync(held);
  }
}

/** What is no UTF-8 is told as U+FFFD, which can be in a name too. */
function mayBeBytes(name: string): boolean {
  return name.includes('\ufffd');
}
