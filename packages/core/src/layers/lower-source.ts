import type { NodeAddress, NodeRecord } from '../backend.js';
import { callOutside } from '../engine/reentrancy.js';
import { type CachedListing, cachedListing } from '../engine/remote/cached-listing.js';
import { ViewLoader } from '../engine/view/view-loader.js';
import type { Loader, ViewSource, ViewState } from '../engine/view/view-state.js';
import type { EntryInfo } from '../entry.js';
import type { SyncFileSystem } from '../file-system.js';
import { joinPath } from '../paths.js';
import type { Unloaded } from '../tree/node.js';
import { checkContent, isAbsent, recordOf, recordOfEntry, staleError } from './lower-records.js';

/** Source over a synchronous filesystem. The filesystem may be custom code, which may read the tree during the call. */
export class SyncLowerSource implements ViewSource {
  /**
   * Private (`#`), because a caller's operations receive the source and must not reach the lower filesystem through it.
   */
  readonly #lower: SyncFileSystem;

  constructor(lower: SyncFileSystem) {
    this.#lower = lower;
  }

  loaderFor(view: ViewState): Loader {
    return new ViewLoader(view, this);
  }

  entry(directory: NodeAddress, name: string): NodeRecord | null {
    return callOutside(() => this.#entry(directory, name));
  }

  listing(directory: NodeAddress): CachedListing {
    return callOutside(() => this.#listing(directory));
  }

  range(file: Unloaded, offset: number, length: number): Uint8Array {
    return callOutside(() => this.#range(file, offset, length));
  }

  #entry(directory: NodeAddress, name: string): NodeRecord | null {
    const path = joinPath(directory.path, name);
    try {
      const stats = this.#lower.lstatSync(path);
      return recordOf(path, stats, stats.kind === 'symlink' ? this.#lower.readlinkSync(path) : undefined);
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
  }

  #listing(directory: NodeAddress): CachedListing {
    const names: string[] = [];
    const records: NodeRecord[] = [];
    for (const info of this.#entries(directory)) {
      const record = recordOfEntry(info) ?? this.#entry(directory, info.name);
      if (record === null) continue;
      names.push(info.name);
      records.push(record);
    }
    return cachedListing(directory.path, '', names, records);
  }

  #range(file: Unloaded, offset: number, length: number): Uint8Array {
    const { path } = file.address;
    try {
      const content = { asked: file.size, bytes: this.#lower.readFileSync(path), stats: this.#lower.lstatSync(path) };
      return checkContent(file, content).subarray(offset, offset + length);
    } catch (error) {
      if (isAbsent(error)) throw staleError(file, error);
      throw error;
    }
  }

  #entries(directory: NodeAddress): EntryInfo[] {
    try {
      return this.#lower.entriesSync(directory.path);
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
  }
}
