import { type Context, makeContext } from './engine/context.js';
import type { SyncExecutor } from './engine/executor.js';
import { showExecutor } from './engine/executor-of.js';
import * as entries from './engine/operations/entries.js';
import * as reading from './engine/operations/read.js';
import type { FileEntry, NewEntry } from './entry.js';
import type { Capabilities } from './file-system.js';
import type { FileSystemStats } from './limits.js';
import type { SyncStorage } from './storage.js';

/** A storage over an executor in memory. */
export class ExecutorSyncStorage implements SyncStorage {
  readonly kind = 'sync';
  readonly #executor: SyncExecutor;
  readonly #context: Context;

  constructor(executor: SyncExecutor, clock: () => number) {
    this.#executor = executor;
    this.#context = makeContext({ clock }, executor);
    showExecutor(this, executor);
  }

  get capabilities(): Capabilities {
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
