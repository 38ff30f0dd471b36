import { checkFunction } from './arguments/values.js';
import { coded } from './errors/argument-errors.js';
import type { Any } from './forms.js';
import type { Platform } from './platform.js';
import type { Dirent } from './results/dirent.js';

type Entry = Dirent<string | Uint8Array>;

/** An open directory: returns its entries one by one, as they were when it was opened. */
export class Dir {
  readonly #platform: Platform;
  readonly #entries: readonly Entry[];
  #next = 0;
  #isClosed = false;
  /** Reads that have not completed. */
  #pending = 0;

  constructor(
    platform: Platform,
    entries: readonly Entry[],
    /** The path as the caller gave it. */
    readonly path: string | Uint8Array,
  ) {
    if (platform === undefined) {
      throw coded(new TypeError('The "handle" argument must be specified'), 'ERR_MISSING_ARGS');
    }
    this.#platform = platform;
    this.#entries = entries;
  }

  read(): Promise<Entry | null>;
  read(callback: Any): void;
  read(callback?: Any): Promise<Entry | null> | undefined {
    this.#checkOpen();
    if (callback === undefined) return this.#read();
    checkFunction(callback, 'callback');
    const entry = this.#take();
    this.#pending += 1;
    this.#platform.defer(() => {
      this.#pending -= 1;
      callback(null, entry);
    });
    return undefined;
  }

  async #read(): Promise<Entry | null> {
    this.#checkOpen();
    this.#pending += 1;
    const entry = await this.#take();
    this.#pending -= 1;
    return entry;
  }

  readSync(): Entry | null {
    this.#checkIdle();
    return this.#take();
  }

  #take(): Entry | null {
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
    this.#checkOpen();
    this.#isClosed = true;
  }

  closeSync(): void {
    this.#checkIdle();
    this.#isClosed = true;
  }

  async *entries(): AsyncIterableIterator<Entry> {
    try {
      for (let entry = await this.#read(); entry !== null; entry = await this.#read()) yield entry;
    } finally {
      await this.#close();
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

  #checkIdle(): void {
    this.#checkOpen();
    if (this.#pending === 0) return;
    const message = 'Cannot do synchronous work on directory handle with concurrent asynchronous operations';
    throw coded(new Error(message), 'ERR_DIR_CONCURRENT_OPERATION');
  }
}

function closedError(): Error {
  return coded(new Error('Directory handle was closed'), 'ERR_DIR_CLOSED');
}
