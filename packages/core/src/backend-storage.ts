import type { Backend } from './backend.js';
import { captureArgument, captureContent, checkMethods, signalIn } from './engine/arguments.js';
import { type Context, makeContext } from './engine/context.js';
import { showExecutor } from './engine/executor-of.js';
import * as entries from './engine/operations/entries.js';
import * as reading from './engine/operations/read.js';
import { RemoteExecutor, type RemoteOptions } from './engine/remote/remote-executor.js';
import type { FileEntry, NewEntry } from './entry.js';
import type { CallOptions, Capabilities } from './file-system.js';
import type { FileSystemStats } from './limits.js';
import type { AsyncStorage } from './storage.js';

export type AsyncStorageOptions = RemoteOptions;

/**
 * A storage over a backend. An adapter whose storage has methods of its own extends this class; otherwise
 * `asyncStorage` is enough. The storage owns its backend: `close` closes it.
 * @throws TypeError, RangeError for an invalid backend or invalid options
 */
export class BackendStorage implements AsyncStorage {
  readonly kind = 'async';
  readonly #executor: RemoteExecutor;
  readonly #context: Context;

  constructor(backend: Backend, options?: AsyncStorageOptions) {
    checkMethods(backend, ['load', 'commit', 'outcome', 'close'], 'A backend');
    if (typeof backend.capabilities !== 'object') throw new TypeError('A backend must declare its capabilities');
    this.#executor = new RemoteExecutor(backend, options);
    this.#context = makeContext({ clock: options?.clock }, this.#executor);
    showExecutor(this, this.#executor);
  }

  get capabilities(): Capabilities {
    return this.#executor.capabilities;
  }
  async get(path: string, options?: CallOptions): Promise<FileEntry | undefined> {
    return this.#executor.run(this.#context, (view) => entries.get(view, path), signalIn(options));
  }
  async set(entry: NewEntry, options?: CallOptions): Promise<void> {
    await this.setMany([entry], options);
  }
  async delete(path: string, options?: CallOptions): Promise<boolean> {
    return this.#executor.run(this.#context, (view) => entries.deleteEntry(view, path), signalIn(options));
  }
  async exists(path: string, options?: CallOptions): Promise<boolean> {
    return this.#executor.run(this.#context, (view) => entries.has(view, path), signalIn(options));
  }
  async paths(prefix?: string, options?: CallOptions): Promise<string[]> {
    return this.#executor.collect(this.#context, (view) => entries.pathsUnder(view, prefix), signalIn(options));
  }
  async children(path: string, options?: CallOptions): Promise<string[]> {
    return this.#executor.run(this.#context, (view) => entries.children(view, path), signalIn(options));
  }
  async clear(options?: CallOptions): Promise<void> {
    return this.#executor.run(this.#context, entries.clear, signalIn(options));
  }
  entries(options?: CallOptions): AsyncIterable<FileEntry> {
    return this.#executor.iterate(this.#context, (view) => entries.entriesUnder(view), signalIn(options));
  }
  async setMany(many: Iterable<NewEntry>, options?: CallOptions): Promise<void> {
    const list = [...many].map(captureEntry);
    return this.#executor.run(this.#context, (view) => entries.setMany(view, list), signalIn(options));
  }
  async stats(options?: CallOptions): Promise<FileSystemStats> {
    return this.#executor.run(this.#context, reading.stats, signalIn(options));
  }
  /**
   * Deletes the filesystem, its checkpoints and forks. Afterwards every client that has it open, this one included,
   * gets a `StorageError` of kind `lost`, or for a write perhaps an `OutcomeUnknownError` with that cause. A storage
   * that is opened later creates an empty filesystem. After a failure, call it again.
   * @throws StorageError, such as `unsupported` if the storage cannot do that, `lost` if another filesystem has
   *   replaced this one; OutcomeUnknownError if a failed call may have deleted something
   */
  async destroy(options?: CallOptions): Promise<void> {
    await this.#executor.destroy(signalIn(options));
  }
  /** Closes the backend too. Later calls of other methods reject with a `StorageError` of kind `closed`. */
  async close(): Promise<void> {
    await this.#executor.close();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Copies the entry, so that later changes by the caller have no effect. */
function captureEntry(entry: NewEntry): NewEntry {
  const content = entry?.content;
  const isText = content === undefined || typeof content === 'string';
  return isText ? captureArgument(entry) : { ...entry, content: captureContent(content) };
}
