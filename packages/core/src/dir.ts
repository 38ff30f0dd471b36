import type { Dirent } from './entry.js';
import { FsError } from './errors.js';

/** An open directory, as `opendir` of `node:fs` returns it. Its entries were read when it was opened. */
export class Dir implements AsyncDisposable {
  #rest: Dirent[] | undefined;

  constructor(
    /** The path as the caller of `opendir` gave it. */
    readonly path: string,
    dirents: readonly Dirent[],
  ) {
    this.#rest = dirents.toReversed();
  }

  /** Returns the next entry, or null after the last. @throws FsError EBADF if the directory is closed */
  async read(): Promise<Dirent | null> {
    return this.readSync();
  }
  readSync(): Dirent | null {
    return this.#open().pop() ?? null;
  }
  /** @throws FsError EBADF if the directory is closed already */
  async close(): Promise<void> {
    this.closeSync();
  }
  closeSync(): void {
    this.#open();
    this.#rest = undefined;
  }
  /** Yields the entries that are left, and closes the directory. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Dirent, void, undefined> {
    try {
      for (let next = this.readSync(); next !== null; next = this.readSync()) yield next;
    } finally {
      this.#rest = undefined;
    }
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.#rest = undefined;
  }

  #open(): Dirent[] {
    if (this.#rest === undefined) throw new FsError('EBADF', { path: this.path, hint: 'The directory is closed' });
    return this.#rest;
  }
}
