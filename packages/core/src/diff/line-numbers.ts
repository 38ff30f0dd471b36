import type { Steps } from '../engine/scheduling/time-slice.js';
import type { Lines } from './lines.js';

/** Two lists of lines as numbers: equal numbers are equal lines. */
export interface LineNumbers {
  readonly left: Int32Array;
  readonly right: Int32Array;
  /** One more than the highest number. */
  readonly count: number;
}

/** A range of lines of one side. */
export interface Stretch {
  readonly lines: Lines;
  readonly from: number;
  readonly to: number;
}

/** Numbers the lines of two lists of strings. */
export function numberStrings(a: readonly string[], b: readonly string[]): LineNumbers {
  const numbers = new Map<string, number>();
  const number = (line: string): number => {
    let value = numbers.get(line);
    if (value === undefined) numbers.set(line, (value = numbers.size));
    return value;
  };
  const left = Int32Array.from(a, number);
  const right = Int32Array.from(b, number);
  return { left, right, count: numbers.size };
}

/** Bytes examined between two pauses. */
const SLICE_BYTES = 2 ** 17;
/** Slots tried for a line before the line goes into a Map, whose hashes an attacker cannot predict. */
const MAX_PROBES = 24;

/** Numbers the lines of two texts without creating a string for each. Linear in both texts, whatever their lines. */
export function* numberLines(a: Stretch, b: Stretch): Steps<LineNumbers> {
  const table = new LineTable(a.lines, b.lines, a.to - a.from + b.to - b.from);
  const left = yield* table.number(a, 0);
  const right = yield* table.number(b, 1);
  return { left, right, count: table.count };
}

/** Fields of an entry: the line's hash, and the start and end of its first occurrence. */
const ENTRY_FIELDS = 3;
/** Entries per array, so that growing copies nothing. */
const BLOCK_ENTRIES = 2 ** 14;

/** Lines by their text: a hash table whose entries are positions in the texts. */
class LineTable {
  count = 0;
  readonly #sides: readonly [Uint8Array, Uint8Array];
  /** The first number of a line that only the right side has. */
  #firstRight = Number.POSITIVE_INFINITY;
  readonly #crowded = new Map<string, number>();
  readonly #entries: Int32Array[] = [];
  /** Line numbers plus one; 0 is free. */
  readonly #slots: Int32Array;
  readonly #mask: number;

  /** Reserves space for `most` different lines. */
  constructor(left: Lines, right: Lines, most: number) {
    this.#sides = [left.bytes, right.bytes];
    let size = 8;
    while (size < most * 1.5) size *= 2;
    this.#slots = new Int32Array(size);
    this.#mask = size - 1;
  }

  /** Numbers the lines of a side. The left side must come first. */
  *number(stretch: Stretch, side: 0 | 1): Steps<Int32Array> {
    if (side === 1) this.#firstRight = this.count;
    const numbers = new Int32Array(stretch.to - stretch.from);
    for (let at = 0; at < numbers.length; ) {
      at = this.#fill(stretch, numbers, at);
      yield;
    }
    return numbers;
  }

  /** Numbers lines from `at` on until a pause is due. Returns where it stopped. */
  #fill({ lines, from, to }: Stretch, numbers: Int32Array, at: number): number {
    const { bytes, starts } = lines;
    const until = (starts[from + at] as number) + SLICE_BYTES;
    let line = from + at;
    for (; line < to; line++) {
      const start = starts[line] as number;
      if (start >= until) break;
      numbers[line - from] = this.#find(bytes, start, starts[line + 1] as number);
    }
    return line - from;
  }

  #find(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashOf(bytes, start, end);
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const slot = (hash + probe) & this.#mask;
      const known = (this.#slots[slot] as number) - 1;
      if (known < 0) {
        this.#slots[slot] = this.count + 1;
        return this.#add(hash, start, end);
      }
      if (this.#isSame(known, hash, bytes, start, end)) return known;
    }
    const line = asKey(bytes, start, end);
    let number = this.#crowded.get(line);
    if (number === undefined) this.#crowded.set(line, (number = this.#add(hash, start, end)));
    return number;
  }

  #add(hash: number, start: number, end: number): number {
    const at = this.count % BLOCK_ENTRIES;
    if (at === 0) this.#entries.push(new Int32Array(Math.min(BLOCK_ENTRIES, this.#mask + 1) * ENTRY_FIELDS));
    const block = this.#entries.at(-1) as Int32Array;
    block[at * ENTRY_FIELDS] = hash;
    block[at * ENTRY_FIELDS + 1] = start;
    block[at * ENTRY_FIELDS + 2] = end;
    return this.count++;
  }

  #isSame(known: number, hash: number, bytes: Uint8Array, start: number, end: number): boolean {
    const block = this.#entries[Math.floor(known / BLOCK_ENTRIES)] as Int32Array;
    const at = (known % BLOCK_ENTRIES) * ENTRY_FIELDS;
    if (block[at] !== hash) return false;
    const first = block[at + 1] as number;
    if ((block[at + 2] as number) - first !== end - start) return false;
    const other = this.#sides[known < this.#firstRight ? 0 : 1];
    for (let i = start, j = first; i < end; i++, j++) if (bytes[i] !== other[j]) return false;
    return true;
  }
}

/** Bytes of a long line that are hashed, at its start and at its end. Lines that agree in these are compared. */
const MAX_HASHED_END_BYTES = 2 ** 15;

/** Returns a 32-bit hash: FNV-1a over the length and both ends, mixed so that the low bits depend on all bits. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = (0x811c9dc5 ^ (end - start)) | 0;
  const middle = Math.min(end, start + MAX_HASHED_END_BYTES);
  for (let i = start; i < middle; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  for (let i = Math.max(middle, end - MAX_HASHED_END_BYTES); i < end; i++)
    hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}

function asKey(bytes: Uint8Array, start: number, end: number): string {
  return new TextDecoder('latin1').decode(bytes.subarray(start, end));
}
