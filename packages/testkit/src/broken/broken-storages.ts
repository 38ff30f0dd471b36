import {
  type AsyncStorage,
  type CallOptions,
  type FileEntry,
  type FileSystemStats,
  FsError,
  type NewEntry,
  type Storage,
} from '@scratchfs/core';
import { type MapRow, MapStorage } from './map-storage.js';

type Clock = { readonly clock: () => number };

/** A stored entry becomes visible when the next one is stored. */
class LosesLastWrite extends MapStorage {
  #late: NewEntry | undefined;
  protected override put(entry: NewEntry): void {
    if (entry.path === '/') throw new FsError('EEXIST', { syscall: 'set', path: entry.path });
    if (this.#late !== undefined) super.put(this.#late);
    this.#late = entry;
  }
}

class AliasesInput extends MapStorage {
  protected override bytesIn(content: Uint8Array | string): Uint8Array {
    return content instanceof Uint8Array ? content : super.bytesIn(content);
  }
}

class AliasesOutput extends MapStorage {
  protected override bytesOut(content: Uint8Array): Uint8Array {
    return content;
  }
}

/** Sorts by UTF-16 units, JavaScript's own order, which is wrong only for astral characters. */
class UnsortedChildren extends MapStorage {
  protected override order(names: string[]): string[] {
    return names.sort();
  }
}

class InsertionOrder extends MapStorage {
  protected override order(names: string[]): string[] {
    return names;
  }
}

class HalfOfSetMany extends MapStorage {
  override setMany(entries: Iterable<NewEntry>): void {
    for (const entry of entries) super.setMany([entry]);
  }
}

class StringPrefix extends MapStorage {
  protected override matches(path: string, prefix: string): boolean {
    return path.startsWith(prefix);
  }
}

class OrphansChildren extends MapStorage {
  override delete(path: string): boolean {
    return this.rows.delete(path);
  }
}

class AcceptsMissingParents extends MapStorage {
  protected override put(entry: NewEntry): void {
    this.rows.set(entry.path, this.row(entry));
  }
}

/** Counts again only when entries are set. */
class StaleStatistics extends MapStorage {
  #counted: FileSystemStats | undefined;
  override setMany(entries: Iterable<NewEntry>): void {
    super.setMany(entries);
    this.#counted = super.stats();
  }
  override stats(): FileSystemStats {
    return this.#counted ?? super.stats();
  }
}

class DropsModes extends MapStorage {
  protected override row(entry: NewEntry): MapRow {
    const row = super.row(entry);
    return { ...row, mode: row.kind === 'directory' ? 0o755 : 0o644 };
  }
}

/** Returns modification times in whole seconds, as some archive formats keep them. */
class RoundsTimes extends MapStorage {
  protected override entry(path: string, row: MapRow): FileEntry {
    const entry = super.entry(path, row);
    return { ...entry, modifiedAt: Math.floor(entry.modifiedAt / 1000) * 1000 };
  }
}

class ClearKeepsFiles extends MapStorage {
  override clear(): void {
    for (const [path, row] of this.rows) if (row.kind === 'directory' && path !== '/') this.rows.delete(path);
  }
}

/** The async form of a synchronous storage. Whether an aborted signal ends a call is chosen by `obeysSignals`. */
class LateStorage implements AsyncStorage {
  readonly kind = 'async';
  readonly capabilities;
  constructor(
    private readonly inner: MapStorage,
    private readonly obeysSignals: boolean,
  ) {
    this.capabilities = inner.capabilities;
  }
  async #do<T>(options: CallOptions | undefined, work: () => T): Promise<T> {
    if (this.obeysSignals) options?.signal?.throwIfAborted();
    return work();
  }
  get(path: string, options?: CallOptions): Promise<FileEntry | undefined> {
    return this.#do(options, () => this.inner.get(path));
  }
  set(entry: NewEntry, options?: CallOptions): Promise<void> {
    return this.#do(options, () => this.inner.set(entry));
  }
  delete(path: string, options?: CallOptions): Promise<boolean> {
    return this.#do(options, () => this.inner.delete(path));
  }
  exists(path: string, options?: CallOptions): Promise<boolean> {
    return this.#do(options, () => this.inner.exists(path));
  }
  paths(prefix?: string, options?: CallOptions): Promise<string[]> {
    return this.#do(options, () => this.inner.paths(prefix));
  }
  children(path: string, options?: CallOptions): Promise<string[]> {
    return this.#do(options, () => this.inner.children(path));
  }
  clear(options?: CallOptions): Promise<void> {
    return this.#do(options, () => this.inner.clear());
  }
  async *entries(options?: CallOptions): AsyncIterable<FileEntry> {
    yield* await this.#do(options, () => this.inner.entries());
  }
  setMany(entries: Iterable<NewEntry>, options?: CallOptions): Promise<void> {
    return this.#do(options, () => this.inner.setMany(entries));
  }
  stats(options?: CallOptions): Promise<FileSystemStats> {
    return this.#do(options, () => this.inner.stats());
  }
  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Correct storages, which must pass a suite: they show that the broken ones fail because of their bug. */
export const GOOD_STORAGES: Readonly<Record<string, (options: Clock) => Storage>> = {
  'a Map': ({ clock }) => new MapStorage(clock),
  'a Map, asynchronously': ({ clock }) => new LateStorage(new MapStorage(clock), true),
};

/** Storages with one bug each, all of which a suite must detect. */
export const BROKEN_STORAGES: Readonly<Record<string, (options: Clock) => Storage>> = {
  'loses the last write': ({ clock }) => new LosesLastWrite(clock),
  'aliases the buffers that go in': ({ clock }) => new AliasesInput(clock),
  'aliases the buffers that come out': ({ clock }) => new AliasesOutput(clock),
  'sorts children as JavaScript does': ({ clock }) => new UnsortedChildren(clock),
  'does not sort children': ({ clock }) => new InsertionOrder(clock),
  'does half of a setMany': ({ clock }) => new HalfOfSetMany(clock),
  'takes a prefix as a string': ({ clock }) => new StringPrefix(clock),
  'orphans children': ({ clock }) => new OrphansChildren(clock),
  'accepts entries without a parent': ({ clock }) => new AcceptsMissingParents(clock),
  'has stale statistics': ({ clock }) => new StaleStatistics(clock),
  'drops modes': ({ clock }) => new DropsModes(clock),
  'rounds times': ({ clock }) => new RoundsTimes(clock),
  'does not clear everything': ({ clock }) => new ClearKeepsFiles(clock),
  'ignores a signal': ({ clock }) => new LateStorage(new MapStorage(clock), false),
};
