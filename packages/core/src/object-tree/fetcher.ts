import { isStorageError } from '../errors.js';
import { corrupt } from './corrupt.js';
import { parseObjectName } from './object-name.js';
import type { ObjectStore } from './object-store.js';
import type { RangeCache } from './range-cache.js';
import { isWhole, type Ref } from './ref.js';
import { inParallel, type StoreCalls } from './store-calls.js';

/** Maximum bytes of an object's pages that are read together. */
const READ_AHEAD_PAGE_BYTES = 2 ** 20;
/** Bytes after the pages that are read with them. */
const READ_AHEAD_CONTENT_BYTES = 32 * 1024;
/** Maximum number of unrequested bytes between two ranges that are read as one. */
const MAX_GAP_BYTES = 64 * 1024;
/** Number of objects whose last range is remembered. */
const MAX_TRACKED_OBJECTS = 256;
const MAX_RANGE_BYTES = 8 * 2 ** 20;
/** Maximum number of parallel requests: fewer than the listeners per signal at which Node prints a warning. */
export const MAX_CONCURRENT_GETS = 8;
/** Attempts to read damaged bytes, which may have been damaged in transit. */
const MAX_DAMAGED_READS = 3;

interface ByteRange {
  readonly object: string;
  readonly offset: number;
  readonly end: number;
}

/** Thrown if a required object does not exist: the state was collected as garbage, or the storage is damaged. */
export class ObjectMissing {
  constructor(readonly object: string) {}
}

/** Reports whether bytes can never be read. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof ObjectMissing || isStorageError(error, 'corrupt');
}

/** Loads many bytes of objects in few requests. */
export class Fetcher {
  readonly #store: ObjectStore;
  readonly #calls: StoreCalls;
  readonly #rangeCache: RangeCache;
  /** End of the last range read of each object. A request that continues there reads ahead. */
  readonly #ends = new Map<string, number>();

  constructor(store: ObjectStore, calls: StoreCalls, rangeCache: RangeCache) {
    this.#store = store;
    this.#calls = calls;
    this.#rangeCache = rangeCache;
  }

  /** @throws StorageError `corrupt` for bytes that stay wrong; ObjectMissing */
  async fetch(refs: readonly Ref[], signal?: AbortSignal): Promise<void> {
    // Without the hold, loaded bytes could be evicted before they are used.
    const release = this.#rangeCache.hold();
    try {
      await this.#fetch(refs, signal);
    } finally {
      release();
    }
  }

  async #fetch(refs: readonly Ref[], signal: AbortSignal | undefined): Promise<void> {
    let wanted = refs;
    for (let attempt = 0; wanted.length > 0; attempt++) {
      if (attempt === MAX_DAMAGED_READS) throw corrupt(`${wanted[0]?.object} has other bytes than it was written with`);
      const ranges = planRanges(wanted, attempt > 0).map((range) => this.#ahead(range));
      await inParallel(ranges, MAX_CONCURRENT_GETS, async ({ object, offset, end }) => {
        const bytes = await this.#calls.retrying(signal, (call) => this.#store.get(object, offset, end - offset, call));
        if (bytes === undefined) throw new ObjectMissing(object);
        this.#rangeCache.add(object, offset, bytes);
      });
      wanted = wanted.filter((ref) => {
        const bytes = this.#rangeCache.find(ref);
        if (bytes !== undefined && isWhole(ref, bytes)) return false;
        this.#rangeCache.drop(ref);
        return true;
      });
    }
  }

  #ahead(range: ByteRange): ByteRange {
    const { object, offset, end } = range;
    const isNext = this.#ends.get(object) === offset;
    const ahead = isNext ? { ...range, end: Math.max(end, offset + MAX_RANGE_BYTES / 2) } : range;
    this.#ends.delete(object);
    this.#ends.set(object, ahead.end);
    const oldest = this.#ends.keys().next().value;
    if (this.#ends.size > MAX_TRACKED_OBJECTS && oldest !== undefined) this.#ends.delete(oldest);
    return ahead;
  }
}

/** Returns the ranges to request. `exactly` leaves out unrequested bytes. */
export function planRanges(refs: readonly Ref[], exactly = false): ByteRange[] {
  const ranges = refs.map((ref) => (exactly ? exact(ref) : widened(ref)));
  ranges.sort((a, b) => (a.object < b.object ? -1 : a.object > b.object ? 1 : a.offset - b.offset));
  const merged: ByteRange[] = [];
  for (const range of ranges) {
    const last = merged.at(-1);
    const end = Math.max(last?.end ?? 0, range.end);
    const joins =
      last?.object === range.object &&
      (range.end <= last.end ||
        (range.offset - last.end <= (exactly ? 0 : MAX_GAP_BYTES) && end - last.offset <= MAX_RANGE_BYTES));
    if (joins) merged[merged.length - 1] = { ...last, end };
    else merged.push(range);
  }
  return merged;
}

function exact({ object, offset, length }: Ref): ByteRange {
  return { object, offset, end: offset + length };
}

/** Extends a page's range to its neighbours. Parent pages are stored after a page, child pages before it. */
function widened(ref: Ref): ByteRange {
  const { pages } = parseObjectName(ref.object);
  const end = ref.offset + ref.length;
  if (end > pages) return exact(ref);
  if (pages <= READ_AHEAD_PAGE_BYTES) return { object: ref.object, offset: 0, end: pages + READ_AHEAD_CONTENT_BYTES };
  const from = Math.floor(ref.offset / READ_AHEAD_PAGE_BYTES) * READ_AHEAD_PAGE_BYTES;
  return { object: ref.object, offset: from, end: Math.max(end, Math.min(pages, from + READ_AHEAD_PAGE_BYTES)) };
}
