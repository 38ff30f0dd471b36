import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readlinkSync,
} from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isCode } from './host-error.js';

/** Opens without reading, and without waking what a FIFO or a device would do (Linux, open(2)). */
export const O_PATH = 0o10000000;

/** Whether names are looked up beneath open descriptors, so that nobody can swap what has been checked. */
export const HAS_DESCRIPTOR_PATHS = process.platform === 'linux';

/** Directories with more names are read aside of the event loop. */
const FEW_NAMES = 256;

export type Kind = 'file' | 'directory' | 'symlink' | 'special';

/**
 * One thing on the host, held. On Linux by a descriptor: `path` means this very thing, whatever happens to its name.
 * Elsewhere by its path, which somebody else may swap: `hostGuarantees` says so.
 *
 * What looks at names does not wait for the pool of threads, which costs ten times as much as looking: who looks at many
 * names lets the event loop have its turns. Long listings, larger contents and all that changes something are asynchronous.
 */
export class Anchor implements Disposable {
  #descriptor: number | undefined;

  private constructor(
    readonly path: string,
    readonly stat: BigIntStats,
    descriptor: number | undefined,
  ) {
    this.#descriptor = descriptor;
  }

  /** The thing itself, a link not followed. @throws what `open` throws */
  static at(path: string | Buffer): Anchor {
    if (!HAS_DESCRIPTOR_PATHS) return new Anchor(String(path), lstatSync(path, { bigint: true }), undefined);
    const descriptor = openSync(path, O_PATH | constants.O_NOFOLLOW);
    try {
      return new Anchor(`/proc/self/fd/${descriptor}`, fstatSync(descriptor, { bigint: true }), descriptor);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  /** A directory that somebody else holds by a descriptor. */
  static of(descriptor: number): Anchor {
    return new Anchor(`/proc/self/fd/${descriptor}`, fstatSync(descriptor, { bigint: true }), undefined);
  }

  get kind(): Kind {
    return kindOf(this.stat);
  }

  /** Where a name in this directory is found. */
  child(name: string): string {
    return join(this.path, name);
  }

  /** What a name in this directory stands for; undefined for what is gone meanwhile, or has a name that is no text. */
  enter(name: string): Anchor | undefined {
    try {
      return Anchor.at(this.child(name));
    } catch (error) {
      if (isCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  /** What {@link enter} would hold, looked at only. */
  look(name: string): BigIntStats | undefined {
    return lstatSync(this.child(name), { bigint: true, throwIfNoEntry: false });
  }

  /** The text of a link in this directory. */
  readLink(name: string): string {
    return readlinkSync(this.child(name));
  }

  /** The names in this directory. */
  async names(): Promise<string[]> {
    const names: string[] = [];
    const directory = opendirSync(this.path, { bufferSize: FEW_NAMES });
    try {
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
        if (names.push(entry.name) === FEW_NAMES) return await readdir(this.path);
      }
      return names;
    } catch (error) {
      // Where the system does not say what names stand for, each is looked at, and one that is gone meanwhile ends it all.
      if (isCode(error, 'ENOENT')) return await readdir(this.path);
      throw error;
    } finally {
      directory.closeSync();
    }
  }

  /** The file, opened to be read or written. Never waits: what is no regular file is not opened at all. */
  open(flags: number): Promise<FileHandle> {
    return open(this.path, openFlags(flags));
  }

  /** The same to be read, as a descriptor. */
  openToRead(flags: number): number {
    return openSync(this.path, openFlags(constants.O_RDONLY | flags));
  }

  /** Let go of twice it is let go of once: the number of a descriptor soon means another one. */
  close(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    if (descriptor !== undefined) closeSync(descriptor);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

export function kindOf(stat: BigIntStats): Kind {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'directory';
  return stat.isSymbolicLink() ? 'symlink' : 'special';
}

function openFlags(flags: number): number {
  return flags | constants.O_NONBLOCK | (HAS_DESCRIPTOR_PATHS ? 0 : constants.O_NOFOLLOW);
}
