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
import { isCode } from './host-error.js';
import { HAS_DESCRIPTOR_PATHS, O_PATH, type PathHandle, type RawName, rawPath } from './path-handle.js';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_WRONLY, O_CREAT, O_EXCL } = constants;

/**
 * An open directory of the host, held by a descriptor, with operations on the names in it. Names are looked up in this
 * very directory without following links, so that a process that swaps directories and links concurrently cannot
 * redirect a call. On platforms other than Linux it is held by its path; see {@link HAS_DESCRIPTOR_PATHS}.
 */
export class DirectoryHandle implements Disposable {
  private constructor(
    readonly path: string,
    readonly descriptor: number | undefined,
  ) {}

  /** Opens a directory, following links in the given path. @throws what `realpath` and `open` throw */
  static at(directory: string): DirectoryHandle {
    return DirectoryHandle.#open(realpathSync(directory));
  }

  /** Opens the directory of a path handle. */
  static of({ path }: PathHandle): DirectoryHandle {
    return DirectoryHandle.#open(`${path}/.`);
  }

  static #open(path: RawName): DirectoryHandle {
    const descriptor = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (HAS_DESCRIPTOR_PATHS) return new DirectoryHandle(`/proc/self/fd/${descriptor}`, descriptor);
    closeSync(descriptor);
    return new DirectoryHandle(String(path), undefined);
  }

  /** Opens a directory in this one without following a link. @throws what `open` throws, such as ENOENT or ENOTDIR */
  enter(name: RawName): DirectoryHandle {
    return DirectoryHandle.#open(this.#place(name));
  }

  /**
   * Opens a directory after giving its owner read, write and execute permission: programs leave directories behind that
   * even their owner cannot enter.
   */
  enterAsOwner(name: RawName): DirectoryHandle {
    const stat = this.stat(name);
    if (stat?.isDirectory() === true && !isOpen(stat)) openToOwner(this.#place(name), stat);
    return this.enter(name);
  }

  child(name: string): string {
    return join(this.path, name);
  }

  names(): RawName[] {
    const names = readdirSync(`${this.path}/.`);
    if (!names.some(mayBeBytes)) return names;
    return readdirSync(`${this.path}/.`, { encoding: 'buffer' }).map((bytes) => {
      const name = bytes.toString('utf8');
      return mayBeBytes(name) && !Buffer.from(name).equals(bytes) ? bytes : name;
    });
  }

  /** Returns the stats of a name without following a link; undefined if it does not exist. */
  stat(name: RawName): BigIntStats | undefined {
    return lstatSync(this.#place(name), { bigint: true, throwIfNoEntry: false });
  }

  /**
   * Reads a regular file and its stats at that moment. Returns undefined if the name is not, or no longer, a regular
   * file.
   */
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

  /** Returns the target of a link as bytes; undefined if the name is not, or no longer, a link. */
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

  /**
   * Writes a file under a temporary name, then renames it, so that no other process finds an incomplete file. Replaces
   * an existing file.
   */
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

  /** Moves a name from another directory into this one, replacing a file of that name. */
  take(from: DirectoryHandle, name: string): void {
    renameSync(from.child(name), this.child(name));
  }

  /** Completes an entry under its temporary name and renames it. On failure the temporary entry is removed. */
  #finish(name: string, temporary: string, finish: () => void): void {
    try {
      finish();
      renameSync(this.child(temporary), this.child(name));
    } catch (error) {
      rmSync(this.child(temporary), { force: true });
      throw error;
    }
  }

  #place(name: RawName): RawName {
    return rawPath(this.path, name);
  }

  /**
   * Removes an entry, and a directory with its contents. Links are not followed. Does nothing if the name does not
   * exist.
   */
  remove(name: RawName): void {
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

  /** Removes a directory if it is empty. Returns whether it did. */
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

/**
 * Gives the owner all permissions on a directory. On Linux the directory is held open, so that no other one can be
 * changed instead.
 */
function openToOwner(path: RawName, stat: BigIntStats): void {
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

/**
 * Reports whether a name may be invalid UTF-8. Node decodes invalid bytes as U+FFFD, which a valid name may contain
 * too.
 */
function mayBeBytes(name: string): boolean {
  return name.includes('\ufffd');
}
