import { statfsSync } from 'node:fs';
import { walkDisk } from './walk-disk.js';

/**
 * Free bytes of the disk below which a command is stopped, even if another program has filled it. Does not apply if
 * less than twice as much was free when the command began.
 */
const MIN_FREE_BYTES = 64 * 2 ** 20;

/** Milliseconds by which times of files may lag behind the clock. */
const CLOCK_MS = 10;

/**
 * Watches what a command writes into directories of the host. Free space of the disk, which costs one system call, tells
 * when to look at the files. Files that the command has deleted and still holds open count for the free space only.
 */
export class WrittenBytes {
  readonly #freeAtStart: number;
  readonly #since = BigInt(Date.now() - CLOCK_MS);
  /** Decrease of the free space at which the files are looked at again. */
  #allowed: number;

  /**
   * @param directories directories that the command can write to
   * @param maxBytes bytes that its files may take
   */
  constructor(
    readonly directories: readonly string[],
    readonly maxBytes: number,
    readonly freeBytes: (directories: readonly string[]) => number = freeBytesOf,
  ) {
    this.#freeAtStart = freeBytes(directories);
    this.#allowed = maxBytes;
  }

  async isExceeded(): Promise<boolean> {
    if (this.directories.length === 0) return false;
    const free = this.freeBytes(this.directories);
    if (free < MIN_FREE_BYTES && this.#freeAtStart >= 2 * MIN_FREE_BYTES) return true;
    const decrease = this.#freeAtStart - free;
    if (decrease <= this.#allowed) return false;
    const written = await this.#written().catch(() => Number.POSITIVE_INFINITY);
    // Other programs took the rest.
    this.#allowed = decrease + this.maxBytes - written;
    return written > this.maxBytes;
  }

  /**
   * Returns the bytes of files that have changed since the command began. Fails if the command has made a directory
   * unreadable.
   */
  async #written(): Promise<number> {
    let bytes = 0;
    for (const directory of this.directories)
      await walkDisk(directory, ({ stat }) => {
        if (stat.isFile() && stat.ctimeMs >= this.#since) bytes += Number(stat.blocks) * 512;
        return true;
      });
    return bytes;
  }
}

/** Returns the free bytes of the disk of some directories, the least if there are several disks. */
function freeBytesOf(directories: readonly string[]): number {
  const free = directories.map((directory) => {
    const { bfree, bsize } = statfsSync(directory);
    return bfree * bsize;
  });
  return Math.min(...free);
}
