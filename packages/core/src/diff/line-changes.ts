import type { Steps } from '../engine/scheduling/time-slice.js';
import type { LineNumbers } from './line-numbers.js';
import { LineSearch } from './line-search.js';
import { grown } from './lines.js';

/**
 * Replaced runs of lines, in order and disjoint: four numbers each, start and end on the left, start and end on the
 * right; ends are exclusive.
 */
export type Changes = Int32Array;

/** Default number of comparisons after which the search for equal lines ends, see {@link LineSearch}. */
export const DEFAULT_MAX_WORK = 20_000_000;
/** Lines examined between two pauses. */
const SLICE_LINES = 131_072;

/** Returns the changes from one list of numbered lines to another. */
export function* findChanges({ left, right, count }: LineNumbers, maxWork: number): Steps<Changes> {
  const removed = new Uint8Array(left.length).fill(1);
  const added = new Uint8Array(right.length).fill(1);
  if (left.length > 0 && right.length > 0) yield* keepShared(left, right, count, maxWork, removed, added);
  const changes = new ChangeList(removed, added);
  while (changes.collect()) yield;
  return yield* slide(left, right, changes.list);
}

/**
 * Marks the lines to keep as neither removed nor added. Lines that occur on one side only are left out of the search.
 */
function* keepShared(
  left: Int32Array,
  right: Int32Array,
  count: number,
  maxWork: number,
  removed: Uint8Array,
  added: Uint8Array,
): Steps<void> {
  const onLeft = yield* occurring(left, count);
  const onRight = yield* occurring(right, count);
  const rest = yield* sharedLines(left, onRight);
  if (rest.length === 0) return;
  const others = yield* sharedLines(right, onLeft);
  const search = new LineSearch(linesAt(left, rest), linesAt(right, others), maxWork);
  yield* search.run();
  yield* mark(removed, rest, search.removed);
  yield* mark(added, others, search.added);
}

/** Returns a flag per number: 1 if the line occurs. */
function* occurring(lines: Int32Array, count: number): Steps<Uint8Array> {
  const flags = new Uint8Array(count);
  for (let from = 0; from < lines.length; from += SLICE_LINES) {
    flag(lines, from, Math.min(lines.length, from + SLICE_LINES), flags);
    yield;
  }
  return flags;
}

function flag(lines: Int32Array, from: number, to: number, flags: Uint8Array): void {
  for (let at = from; at < to; at++) flags[lines[at] as number] = 1;
}

/** Returns the positions of the lines that also occur on the other side. */
function* sharedLines(lines: Int32Array, isShared: Uint8Array): Steps<Int32Array> {
  const places = new Int32Array(lines.length);
  let count = 0;
  for (let from = 0; from < lines.length; from += SLICE_LINES) {
    count = addShared(lines, isShared, from, Math.min(lines.length, from + SLICE_LINES), places, count);
    yield;
  }
  return places.subarray(0, count);
}

function addShared(
  lines: Int32Array,
  isShared: Uint8Array,
  from: number,
  to: number,
  places: Int32Array,
  count: number,
): number {
  let length = count;
  for (let at = from; at < to; at++) if (isShared[lines[at] as number] === 1) places[length++] = at;
  return length;
}

function linesAt(lines: Int32Array, places: Int32Array): Int32Array {
  const found = new Int32Array(places.length);
  for (let i = 0; i < places.length; i++) found[i] = lines[places[i] as number] as number;
  return found;
}

function* mark(flags: Uint8Array, places: Int32Array, values: Uint8Array): Steps<void> {
  for (let from = 0; from < places.length; from += SLICE_LINES) {
    put(flags, places, values, from, Math.min(places.length, from + SLICE_LINES));
    yield;
  }
}

function put(flags: Uint8Array, places: Int32Array, values: Uint8Array, from: number, to: number): void {
  for (let i = from; i < to; i++) flags[places[i] as number] = values[i] as number;
}

/** Runs of marked lines, collected in portions. */
class ChangeList {
  #changes = new Int32Array(16);
  #length = 0;
  #a = 0;
  #b = 0;

  constructor(
    readonly removed: Uint8Array,
    readonly added: Uint8Array,
  ) {}

  get list(): Changes {
    return this.#changes.subarray(0, this.#length);
  }

  /** Collects a portion. Returns true if there is more. */
  collect(): boolean {
    const { removed, added } = this;
    let a = this.#a;
    let b = this.#b;
    const until = a + b + SLICE_LINES;
    while (a + b < until && (a < removed.length || b < added.length)) {
      const aStart = a;
      const bStart = b;
      while (removed[a] === 1) a++;
      while (added[b] === 1) b++;
      if (a > aStart || b > bStart) this.#add(aStart, a, bStart, b);
      else {
        a++;
        b++;
      }
    }
    this.#a = a;
    this.#b = b;
    return a < removed.length || b < added.length;
  }

  #add(aStart: number, aEnd: number, bStart: number, bEnd: number): void {
    if (this.#length === this.#changes.length) this.#changes = grown(this.#changes);
    const at = this.#length;
    this.#changes[at] = aStart;
    this.#changes[at + 1] = aEnd;
    this.#changes[at + 2] = bStart;
    this.#changes[at + 3] = bEnd;
    this.#length += 4;
  }
}

/** Moves pure removals and additions as far down as equal lines allow, and joins changes that then touch. */
function* slide(a: Int32Array, b: Int32Array, changes: Changes): Steps<Changes> {
  // Works from the last change to the first and writes into the end of the same array, so nothing unread is
  // overwritten.
  let first = changes.length;
  let work = 0;
  for (let at = changes.length - 4; at >= 0; at -= 4) {
    let aStart = changes[at] as number;
    let aEnd = changes[at + 1] as number;
    let bStart = changes[at + 2] as number;
    let bEnd = changes[at + 3] as number;
    const hasNext = first < changes.length;
    const limit = hasNext ? (changes[first] as number) : a.length;
    const [lines, from] = aStart === aEnd ? [b, bStart] : [a, aStart];
    if (aStart === aEnd || bStart === bEnd) {
      const length = aEnd - aStart + bEnd - bStart;
      let by = 0;
      while (aEnd + by < limit && lines[from + by] === lines[from + length + by]) by++;
      aStart += by;
      aEnd += by;
      bStart += by;
      bEnd += by;
      work += by;
    }
    if (hasNext && aEnd === changes[first] && bEnd === changes[first + 2]) {
      aEnd = changes[first + 1] as number;
      bEnd = changes[first + 3] as number;
    } else first -= 4;
    changes[first] = aStart;
    changes[first + 1] = aEnd;
    changes[first + 2] = bStart;
    changes[first + 3] = bEnd;
    if (++work >= SLICE_LINES) {
      work = 0;
      yield;
    }
  }
  return changes.subarray(first);
}
