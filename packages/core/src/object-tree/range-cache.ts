import { Cache } from './cache.js';
import type { Ref } from './ref.js';

interface CachedRange {
  readonly object: string;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** Caches byte ranges of objects, as they were read or written. */
export class RangeCache {
  readonly #ranges: Cache<CachedRange>;
  /** Lengths of the cached ranges, by object and start. */
  readonly #index = new Map<string, Map<number, number>>();

  constructor(maxBytes: number) {
    this.#ranges = new Cache(maxBytes, ({ object, offset }) => this.#forget(object, offset));
  }

  hold(): () => void {
    return this.#ranges.hold();
  }

  add(object: string, offset: number, bytes: Uint8Array): void {
    let runs = this.#index.get(object);
    if ((runs?.get(offset) ?? -1) > bytes.length) return;
    if (runs === undefined) {
      runs = new Map();
      this.#index.set(object, runs);
    }
    runs.set(offset, bytes.length);
    // Must be the last step, because a range larger than the cache is evicted immediately.
    this.#ranges.set(keyOf(object, offset), { object, offset, bytes }, bytes.length);
  }

  /** Returns a view of the bytes if one cached range contains all of them. */
  find({ object, offset, length }: Ref): Uint8Array | undefined {
    for (const [start, size] of this.#index.get(object) ?? []) {
      if (start > offset || start + size < offset + length) continue;
      return this.#ranges.get(keyOf(object, start))?.bytes.subarray(offset - start, offset - start + length);
    }
    return undefined;
  }

  /** Removes the cached ranges that contain these bytes, because they were wrong. */
  drop({ object, offset, length }: Ref): void {
    for (const [start, size] of this.#index.get(object) ?? []) {
      if (start > offset || start + size < offset + length) continue;
      this.#ranges.delete(keyOf(object, start));
      this.#forget(object, start);
    }
  }

  #forget(object: string, offset: number): void {
    const runs = this.#index.get(object);
    runs?.delete(offset);
    if (runs?.size === 0) this.#index.delete(object);
  }
}

function keyOf(object: string, offset: number): string {
  return `${object}@${offset}`;
}
