import { isStorageError } from '../errors.js';
import { corrupt } from './corrupt.js';
import { parseObjectName, partName } from './object-name.js';
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
/** Maximum number of ranges that are read in parallel, and of parts of one range. */
export const MAX_CONCURRENT_GETS = 8;
/** Maximum number of times that bytes are read while they arrive damaged. They may be intact the next time. */
const MAX_DAMAGED_READS = 3;

interface ByteRange {
  readonly object: string;
  readonly offset: number;
  readonly end: number;
}

/** Thrown if a required object does not exist, for example because the state was collected as garbage. */
export class ObjectMissing {
  constructor(readonly object: string) {}
}

/** Reports whether an error means that bytes are missing or damaged. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof ObjectMissing || isStorageError(error, 'corrupt');
}

/** Loads many bytes of objects in few requests. */
export class Fetcher {
  readonly #store: ObjectStore;
  readonly #calls: StoreCalls;
  readonly #rangeCache: RangeCache;
  /** End of the last range read, by object. A request that continues there reads ahead. */
  readonly #ends = new Map<string, number>();

  constructor(store: ObjectStore, calls: StoreCalls, rangeCache: RangeCache) {
    this.#store = store;
    this.#calls = calls;
    this.#rangeCache = rangeCache;
  }

  /** @throws ObjectMissing; StorageError, `corrupt` for bytes that stay wrong; the signal's reason */
  async fetch(refs: readonly Ref[], signal?: AbortSignal): Promise<void> {
    // Without the hold, loaded bytes could be evicted before they are verified.
    const release = this.#rangeCache.hold();
    try {
      await this.#fetch(refs, signal);
    } finally {
      release();
    }
  }

  async #fetch(refs: readonly Ref[], signal: AbortSignal | undefined): Promise<void> {
    let wanted = refs;
    let incomplete = new Set<string>();
    for (let attempt = 0; wanted.length > 0; attempt++) {
      if (attempt === MAX_DAMAGED_READS) {
        const [{ object }] = wanted as [Ref];
        if (incomplete.has(object)) throw new ObjectMissing(object);
        throw corrupt(`${object} has other bytes than it was written with`);
      }
      incomplete = new Set();
      const ranges = planRanges(wanted, attempt > 0).map((range) => this.#ahead(range));
      await inParallel(ranges, MAX_CONCURRENT_GETS, async (range) => {
        const { bytes, isIncomplete } = await this.#read(range, signal);
        if (isIncomplete) incomplete.add(range.object);
        this.#rangeCache.add(range.object, range.offset, bytes);
      });
      wanted = wanted.filter((ref) => {
        const bytes = this.#rangeCache.find(ref);
        if (bytes !== undefined && isWhole(ref, bytes)) return false;
        this.#rangeCache.drop(ref);
        return true;
      });
    }
  }

  /**
   * Reads a range from the parts of its object. A part after the first may be missing because the object ends before
   * it, or because the object is being deleted: then `isIncomplete`.
   * @throws ObjectMissing
   */
  async #read(
    { object, offset, end }: ByteRange,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly bytes: Uint8Array; readonly isIncomplete: boolean }> {
    const { partBytes } = parseObjectName(object);
    const first = Math.floor(offset / partBytes);
    const parts: (Uint8Array | undefined)[] = [];
    const get = async (part: number): Promise<void> => {
      const from = Math.max(offset, part * partBytes);
      const length = Math.min(end, (part + 1) * partBytes) - from;
      parts[part - first] = await this.#calls.retrying(signal, (call) =>
        this.#store.get(partName(object, part), from - part * partBytes, length, call),
      );
    };
    const count = Math.max(1, Math.ceil(end / partBytes) - first);
    await inParallel(
      Array.from({ length: count }, (_, i) => first + i),
      MAX_CONCURRENT_GETS,
      get,
    );
    const [start] = parts;
    if (start === undefined) throw new ObjectMissing(object);
    if (count === 1) return { bytes: start, isIncomplete: false };
    return { bytes: joined(parts, first * partBytes - offset, partBytes), isIncomplete: parts.includes(undefined) };
  }

  #ahead(range: ByteRange): ByteRange {
    const { object, offset, end } = range;
    const isNext = this.#ends.get(object) === offset;
    const ahead = isNext ? { ...range, end: Math.max(end, withinParts(range, offset + MAX_RANGE_BYTES / 2)) } : range;
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

/**
 * Extends the range of a page to its neighbours in the object: parent pages are stored after a page, child pages before
 * it. The range of a content is not extended.
 */
function widened(ref: Ref): ByteRange {
  const { pages, partBytes } = parseObjectName(ref.object);
  const { object, offset } = ref;
  const end = offset + ref.length;
  if (end > pages) return exact(ref);
  const isSmall = pages <= READ_AHEAD_PAGE_BYTES;
  const from = isSmall ? 0 : Math.floor(offset / READ_AHEAD_PAGE_BYTES) * READ_AHEAD_PAGE_BYTES;
  const to = isSmall ? pages + READ_AHEAD_CONTENT_BYTES : Math.min(pages, from + READ_AHEAD_PAGE_BYTES);
  return {
    object,
    offset: Math.max(from, Math.floor(offset / partBytes) * partBytes),
    end: Math.max(end, withinParts({ object, end }, to)),
  };
}

/** Returns how far a range can be extended up to `to` without a request for another part. */
function withinParts({ object, end }: Pick<ByteRange, 'object' | 'end'>, to: number): number {
  const { partBytes } = parseObjectName(object);
  return Math.min(to, Math.ceil(end / partBytes) * partBytes);
}

/**
 * Joins consecutive parts, up to one that is missing, or through the first that is shorter than its part of the range.
 * `lead`: the start of the first part, counted from that of the range.
 */
function joined(parts: readonly (Uint8Array | undefined)[], lead: number, partBytes: number): Uint8Array {
  const whole: Uint8Array[] = [];
  let length = 0;
  for (const [i, bytes] of parts.entries()) {
    if (bytes === undefined) break;
    whole.push(bytes);
    length += bytes.length;
    if (bytes.length < (i === 0 ? partBytes + lead : partBytes)) break;
  }
  const result = new Uint8Array(length);
  let at = 0;
  for (const bytes of whole) {
    result.set(bytes, at);
    at += bytes.length;
  }
  return result;
}
