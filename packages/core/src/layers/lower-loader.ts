import type { NodeAddress, NodeRecord } from '../backend.js';
import { type CachedListing, listingSteps, NAMES_AT_ONCE } from '../engine/remote/cached-listing.js';
import { runInSlices, type Steps } from '../engine/scheduling/time-slice.js';
import { type Need, prepared } from '../engine/source.js';
import type { EntryInfo, Stats } from '../entry.js';
import type { CallOptions, FileSystem } from '../file-system.js';
import type { FileSystemStats } from '../limits.js';
import { joinPath, pathSegments } from '../paths.js';
import { isAbsent, type LowerContent, recordOf, recordOfEntry } from './lower-records.js';

/** Maximum number of items of one list that are loaded concurrently. */
const MAX_PARALLEL_CALLS = 32;

/** Loads the parts of an asynchronous filesystem that an overlay's tree lacks. Records are kept as first seen. */
export class LowerLoader {
  readonly #entries = new Map<string, NodeRecord | null>();
  readonly #listings = new Map<string, CachedListing>();

  readonly #lower: FileSystem;

  constructor(lower: FileSystem) {
    this.#lower = lower;
  }

  async top(): Promise<readonly [Stats, FileSystemStats]> {
    return Promise.all([this.#lower.lstat('/'), this.#lower.stats()]);
  }

  entry(directory: NodeAddress, name: string): NodeRecord | null | undefined {
    return this.#entries.get(joinPath(directory.path, name));
  }

  listing(directory: NodeAddress): CachedListing | undefined {
    return this.#listings.get(directory.path);
  }

  /** Loads records; contents are passed to `keep`. */
  async load(
    needs: readonly Need[],
    signal: AbortSignal | undefined,
    keep: (path: string, content: LowerContent) => void,
  ): Promise<void> {
    const call = { signal };
    await inParallel(await prepared(needs, signal), async (request) => {
      if (request.kind === 'path') await this.#loadPath(request.path, call);
      else if (request.kind !== 'content') await this.#loadListing(request.at.path, call);
      else keep(request.at.path, await this.#content(request.at.path, request.offset, request.length, call));
    });
  }

  /** Loads the records of all names on the path in parallel. Those after one that is not a directory are ignored. */
  async #loadPath(path: string, call: CallOptions): Promise<void> {
    const prefixes: string[] = [];
    let at = '';
    for (const name of pathSegments(path)) prefixes.push((at += `/${name}`));
    const outcomes = await Promise.allSettled(
      prefixes.map(async (prefix) => this.#entries.get(prefix) ?? this.#look(prefix, call)),
    );
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.status === 'rejected') throw outcome.reason;
      const prefix = prefixes[i] as string;
      if (!this.#entries.has(prefix)) this.#entries.set(prefix, outcome.value);
      if (this.#entries.get(prefix)?.kind !== 'directory') return;
    }
  }

  async #look(path: string, call: CallOptions): Promise<NodeRecord | null> {
    try {
      const stats = await this.#lower.lstat(path, call);
      return recordOf(path, stats, stats.kind === 'symlink' ? await this.#lower.readlink(path, call) : undefined);
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
  }

  async #loadListing(path: string, call: CallOptions): Promise<void> {
    if (this.#listings.has(path)) return;
    const infos = await this.#lower.entries(path, call).catch((error: unknown) => {
      if (isAbsent(error)) return [];
      throw error;
    });
    const records = await inParallel(
      infos,
      async (info) => this.#entries.get(info.path) ?? recordOfEntry(info) ?? this.#look(info.path, call),
    );
    const listing = await runInSlices(this.#listingSteps(path, infos, records), call.signal);
    if (listing !== undefined) this.#listings.set(path, listing);
  }

  *#listingSteps(
    path: string,
    infos: readonly EntryInfo[],
    found: readonly (NodeRecord | null)[],
  ): Steps<CachedListing | undefined> {
    const names: string[] = [];
    const records: NodeRecord[] = [];
    for (const [i, { name, path: at }] of infos.entries()) {
      if (i % NAMES_AT_ONCE === 0) yield;
      const record = found[i] as NodeRecord | null;
      if (!this.#entries.has(at)) this.#entries.set(at, record);
      if (record === null) continue;
      names.push(name);
      records.push(record);
    }
    return yield* listingSteps(path, '', names, (_, i) => records[i]);
  }

  /** Reads the requested part of a content; through `readFile` if that is all of it. */
  async #content(path: string, offset: number, asked: number, call: CallOptions): Promise<LowerContent> {
    const isWhole = offset === 0 && asked === this.#entries.get(path)?.size;
    try {
      const bytes = await (isWhole ? this.#lower.readFile(path, call) : this.#part(path, offset, asked, call));
      return { offset, asked, bytes, stats: await this.#lower.lstat(path, call) };
    } catch (error) {
      if (!isAbsent(error)) throw error;
      return { offset, asked, bytes: new Uint8Array(0), error };
    }
  }

  /** Reads a part; fewer bytes if the file has become shorter. */
  async #part(path: string, offset: number, asked: number, call: CallOptions): Promise<Uint8Array> {
    const bytes = new Uint8Array(asked);
    const handle = await this.#lower.open(path, 'r', call);
    try {
      return bytes.subarray(0, await handle.read(bytes, offset, call));
    } finally {
      await handle.close();
    }
  }
}

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array<R>(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL_CALLS, items.length) }, worker));
  return results;
}
