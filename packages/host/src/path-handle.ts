import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readdirSync,
  readlinkSync,
  statfsSync,
} from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { isCode } from './host-error.js';

/** Linux open(2) flag: opens a path without reading it, so that opening a FIFO or a device has no side effect. */
export const O_PATH = 0o10000000;

/** True if names can be looked up under open descriptors (Linux), so that a swapped directory cannot redirect them. */
export const HAS_DESCRIPTOR_PATHS = process.platform === 'linux';

/** Number of names at which reading a directory entry by entry is given up for an asynchronous listing. */
const MAX_NAMES_READ_SYNC = 256;

/**
 * Size in bytes up to which a directory is listed in one synchronous call, which takes less than half as long as
 * reading it entry by entry. Applies only to the disks in {@link SIZED_BY_NAMES}, on which that is at most some 350
 * names. A size of 0 says nothing.
 */
const MAX_BYTES_LISTED_SYNC = 4096n;

/**
 * Linux magic numbers, by statfs(2), of disks where the size of a directory grows with its names: ext2 to ext4, XFS and
 * tmpfs. FUSE may report one size for all directories, overlayfs that of one of its layers, and others count otherwise.
 */
const SIZED_BY_NAMES: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x01021994]);

/** A name or path on the host. Only as bytes can it be invalid UTF-8. */
export type RawName = string | Buffer;

export type Kind = 'file' | 'directory' | 'symlink' | 'special';

/**
 * An open file, directory or link of the host. On Linux it is held by a descriptor: `path` refers to this inode
 * whatever happens to its name. On other platforms it is held by its path, which another process may swap;
 * `hostGuarantees` says so.
 *
 * Methods that look at one name are synchronous: the thread pool costs ten times as much as the lookup. Long listings
 * are asynchronous.
 */
export class PathHandle implements Disposable {
  #descriptor: number | undefined;

  private constructor(
    readonly path: string,
    readonly stat: BigIntStats,
    descriptor: number | undefined,
  ) {
    this.#descriptor = descriptor;
  }

  /** Opens a path without following a link at its end. @throws what `open` throws */
  static at(path: RawName): PathHandle {
    if (!HAS_DESCRIPTOR_PATHS) return new PathHandle(String(path), lstatSync(path, { bigint: true }), undefined);
    const descriptor = openSync(path, O_PATH | constants.O_NOFOLLOW);
    try {
      return new PathHandle(`/proc/self/fd/${descriptor}`, fstatSync(descriptor, { bigint: true }), descriptor);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  /** Like {@link at}, but returns undefined if the path does not exist (ENOENT). */
  static find(path: RawName): PathHandle | undefined {
    try {
      return PathHandle.at(path);
    } catch (error) {
      if (isCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  /** Creates a path handle for a directory whose descriptor the caller owns and closes. */
  static of(descriptor: number): PathHandle {
    return new PathHandle(`/proc/self/fd/${descriptor}`, fstatSync(descriptor, { bigint: true }), undefined);
  }

  get kind(): Kind {
    return kindOf(this.stat);
  }

  /** Returns the path of a name in this directory. */
  child(name: string): string {
    // `join` took an eighth of the time of a look.
    return `${this.path}${sep}${name}`;
  }

  /**
   * Opens a name in this directory. Returns undefined if it does not exist. A name that is not valid UTF-8 on the disk
   * is found only if it is given as bytes.
   */
  enter(name: RawName): PathHandle | undefined {
    return PathHandle.find(rawPath(this.path, name));
  }

  /**
   * Returns the stats of a name in this directory without opening it or following a link; undefined if it does not
   * exist.
   */
  look(name: string): BigIntStats | undefined {
    return lstatSync(this.child(name), { bigint: true, throwIfNoEntry: false });
  }

  /** Returns the target of a link in this directory. */
  readLink(name: string): string {
    return readlinkSync(this.child(name));
  }

  /** Returns the names in this directory, in no particular order. Bytes that are not UTF-8 become U+FFFD. */
  async names(): Promise<string[]> {
    const { size } = this.stat;
    if (size > 0n && size <= MAX_BYTES_LISTED_SYNC && isSizedByNames(this.path)) return readdirSync(this.path);
    const names: string[] = [];
    const directory = opendirSync(this.path, { bufferSize: MAX_NAMES_READ_SYNC });
    try {
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
        if (names.push(entry.name) === MAX_NAMES_READ_SYNC) return await readdir(this.path);
      }
      return names;
    } catch (error) {
      // On disks that report no entry types Node looks at each entry, and one that has just been removed fails the
      // listing.
      if (isCode(error, 'ENOENT')) return await readdir(this.path);
      throw error;
    } finally {
      directory.closeSync();
    }
  }

  /** Opens the file for reading or writing, without waiting if it is a FIFO. The caller must check the kind first. */
  open(flags: number): Promise<FileHandle> {
    return open(this.path, openFlags(flags));
  }

  /** Opens the file for reading, without waiting, and returns its descriptor, which the caller closes. */
  openToRead(flags: number): number {
    return openSync(this.path, openFlags(constants.O_RDONLY | flags));
  }

  /** Closes the descriptor, once: its number may be reused, so a second close could close another file. */
  close(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    if (descriptor !== undefined) closeSync(descriptor);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Returns the path of a name in a directory, as bytes if the name is bytes. */
export function rawPath(directory: string, name: RawName): RawName {
  return typeof name === 'string' ? join(directory, name) : Buffer.concat([Buffer.from(`${directory}/`), name]);
}

/** Reports whether the disk is one where a small directory has few names. Takes a tenth of the time of a listing. */
function isSizedByNames(path: string): boolean {
  return HAS_DESCRIPTOR_PATHS && SIZED_BY_NAMES.has(statfsSync(path).type);
}

export function kindOf(stat: BigIntStats): Kind {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'directory';
  return stat.isSymbolicLink() ? 'symlink' : 'special';
}

function openFlags(flags: number): number {
  return flags | constants.O_NONBLOCK | (HAS_DESCRIPTOR_PATHS ? 0 : constants.O_NOFOLLOW);
}
