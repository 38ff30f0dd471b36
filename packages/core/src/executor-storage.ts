import { captureArgument, captureContent, signalIn } from './engine/arguments.js';
import { type Context, makeContext } from './engine/context.js';
import type { Executor, SyncExecutor } from './engine/executor.js';
import { showExecutor } from './engine/executor-of.js';
import * as entries from './engine/operations/entries.js';
import * as reading from './engine/operations/read.js';
import type { FileEntry, NewEntry } from './entry.js';
import type { CallOptions } from './file-system.js';
import type { FileSystemStats } from './limits.js';
import type { AsyncStorage, SyncStorage } from './storage.js';

/** Storage over memory. */
export class ExecutorSyncStorage implements SyncStorage {
  readonly kind = 'sync';
  readonly #executor: SyncExecutor;
  readonly #context: Context;

  constructor(executor: SyncExecutor, clock: () => number) {
    this.#executor = executor;
    this.#context = makeContext(executor, { clock });
    showExecutor(this, executor);
  }

  get capabilities() {
    return this.#executor.capabilities;
  }
  get(path: string): FileEntry | undefined {
    return this.#executor.runSync(this.#context, (view) => entries.get(view, path));
  }
  set(entry: NewEntry): void {
    this.#executor.runSync(this.#context, (view) => entries.setEntry(view, entry));
  }
  delete(path: string): boolean {
    return this.#executor.runSync(this.#context, (view) => entries.deleteEntry(view, path));
  }
  exists(path: string): boolean {
    return this.#executor.runSync(this.#context, (view) => entries.has(view, path));
  }
  paths(prefix?: string): string[] {
    return [...this.#executor.iterateSync(this.#context, (view) => entries.pathsUnder(view, prefix))];
  }
  children(path: string): string[] {
    return this.#executor.runSync(this.#context, (view) => entries.children(view, path));
  }
  clear(): void {
    this.#executor.runSync(this.#context, entries.clear);
  }
  entries(): Iterable<FileEntry> {
    return this.#executor.iterateSync(this.#context, (view) => entries.entriesUnder(view));
  }
  setMany(many: Iterable<NewEntry>): void {
    const list = [...many];
    this.#executor.runSync(this.#context, (view) => entries.setMany(view, list));
  }
  stats(): FileSystemStats {
    return this.#executor.runSync(this.#context, reading.stats);
  }
  close(): void {
    // In memory this is synchronous.
    void this.#executor.close();
  }
}

/** Storage over a remote backend. */
export class ExecutorAsyncStorage implements AsyncStorage {
  readonly kind = 'async';
  readonly #executor: Executor;
  readonly #context: Context;

  constructor(executor: Executor, clock?: () => number) {
    this.#executor = executor;
    this.#context = makeContext(executor, { clock });
    showExecutor(this, executor);
  }

  get capabilities() {
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
