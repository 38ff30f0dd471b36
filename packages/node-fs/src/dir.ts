import { checkFunction } from './arguments/values.js';
import { coded } from './errors/argument-errors.js';
import type { Any } from './forms.js';
import type { Platform } from './platform.js';
import type { Dirent } from './results/dirent.js';

type Entry = Dirent<string | Uint8Array>;

/** An open directory: its entries one by one, as they were when it was opened. */
export class Dir {
  readonly #platform: Platform;
  readonly #entries: readonly Entry[];
  #next = 0;
  #isClosed = false;

  constructor(
    platform: Platform,
    entries: readonly Entry[],
    /** As it was asked for. */
    readonly path: string,
  ) {
    this.#platform = platform;
    this.#entries = entries;
  }

  read(): Promise<Entry | null>;
  read(callback: Any): void;
  read(callback?: Any): Promise<Entry | null> | undefined {
    if (callback === undefined) return this.#read();
    const entry = this.readSync();
    checkFunction(callback, 'callback');
    this.#platform.defer(() => callback(null, entry));
    return undefined;
  }

  async #read(): Promise<Entry | null> {
    return this.readSync();
  }

  readSync(): Entry | null {
    this.#checkOpen();
    return this.#entries[this.#next++] ?? null;
  }

  close(): Promise<void>;
  close(callback: Any): void;
  close(callback?: Any): Promise<void> | undefined {
    if (callback === undefined) return this.#close();
    checkFunction(callback, 'callback');
    const error = this.#isClosed ? closedError() : null;
    this.#isClosed = true;
    this.#platform.defer(() => callback(error));
    return undefined;
  }

  async #close(): Promise<void> {
    this.closeSync();
  }

  closeSync(): void {
    this.#checkOpen();
    this.#isClosed = true;
  }

  async *entries(): AsyncIterableIterator<Entry> {
    try {
      for (let entry = await this.#read(); entry !== null; entry = await this.#read()) yield entry;
    } finally {
      this.closeSync();
    }
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Entry> {
    return this.entries();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
  }

  #checkOpen(): void {
    if (this.#isClosed) throw closedError();
  }
}

function closedError(): Error {
  return coded(new Error('Directory handle was closed'), 'ERR_DIR_CLOSED');
}
