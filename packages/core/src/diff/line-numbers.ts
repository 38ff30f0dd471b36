import type { Steps } from '../snapshot/steps.js';
import { grown, type Lines } from './lines.js';

/** Two lists of lines as numbers: the same number is the same line. */
export interface LineNumbers {
  readonly left: Int32Array;
  readonly right: Int32Array;
  /** One more than the highest number. */
  readonly count: number;
}

/** Lines of which both lists hold their share. */
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

/** Bytes looked at between two pauses. */
const PORTION = 2 ** 17;
/** Lines put at another place between two pauses. */
const MOVES = 2 ** 15;
/** Places a line is looked for before it is left to a map, whose hashes nobody can foresee. */
const MAX_PROBES = 24;

/** Numbers the lines of two texts without making a string of each. Costs a pass over both, whatever their lines. */
export function* numberLines(a: Stretch, b: Stretch): Steps<LineNumbers> {
  const table = new LineTable(a.lines, b.lines, a.to - a.from + b.to - b.from);
  const left = yield* table.number(a, 0);
  const right = yield* table.number(b, 1);
  return { left, right, count: table.count };
}

/** Fields of an entry: hash, side, and where the line was first met. */
const ENTRY = 4;
/** Fields of a slot: the number of the line plus one (0: free), and its hash. */
const SLOT = 2;

/** Lines by their text: a hash table whose entries are places in the texts. */
class LineTable {
  count = 0;
  readonly #sides: readonly [Lines, Lines];
  readonly #crowded = new Map<string, number>();
  #entries: Int32Array<ArrayBuffer>;
  #slots: Int32Array;
  #mask: number;

  /** Begins with room for every second of the lines, `most` in all. */
  constructor(left: Lines, right: Lines, most: number) {
    this.#sides = [left, right];
    let size = 8;
    while (size < most) size *= 2;
    this.#entries = new Int32Array((size / 2 + 1) * ENTRY);
    this.#slots = new Int32Array(size * SLOT);
    this.#mask = size - 1;
  }

  *number(stretch: Stretch, side: 0 | 1): Steps<Int32Array> {
    const numbers = new Int32Array(stretch.to - stretch.from);
    for (let at = 0; at < numbers.length; ) {
      at = this.#fill(stretch, side, numbers, at);
      yield;
      if (this.#isFull) yield* this.#grow();
    }
    return numbers;
  }

  get #isFull(): boolean {
    return this.count * 2 > this.#mask;
  }

  /** Numbers lines from `at` on until a pause is due, or more room; answers where it stopped. */
  #fill({ lines, from, to }: Stretch, side: 0 | 1, numbers: Int32Array, at: number): number {
    const { bytes, starts } = lines;
    const until = (starts[from + at] as number) + PORTION;
    let line = from + at;
    for (; line < to && !this.#isFull; line++) {
      const start = starts[line] as number;
      if (start >= until) break;
      numbers[line - from] = this.#find(bytes, side, start, starts[line + 1] as number);
    }
    return line - from;
  }

  #find(bytes: Uint8Array, side: 0 | 1, start: number, end: number): number {
    const hash = hashOf(bytes, start, end);
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const slot = ((hash + probe) & this.#mask) * SLOT;
      const known = (this.#slots[slot] as number) - 1;
      if (known < 0) {
        const crowded = this.#crowded.size === 0 ? undefined : this.#crowded.get(asKey(bytes, start, end));
        if (crowded !== undefined) return crowded;
        this.#slots[slot] = this.count + 1;
        this.#slots[slot + 1] = hash;
        return this.#add(hash, side, start, end);
      }
      if (this.#slots[slot + 1] === hash && this.#isSame(known, bytes, start, end)) return known;
    }
    const line = asKey(bytes, start, end);
    let number = this.#crowded.get(line);
    if (number === undefined) this.#crowded.set(line, (number = this.#add(hash, side, start, end)));
    return number;
  }

  #add(hash: number, side: 0 | 1, start: number, end: number): number {
    const entry = this.count * ENTRY;
    this.#entries[entry] = hash;
    this.#entries[entry + 1] = side;
    this.#entries[entry + 2] = start;
    this.#entries[entry + 3] = end;
    return this.count++;
  }

  #isSame(known: number, bytes: Uint8Array, start: number, end: number): boolean {
    const entry = known * ENTRY;
    const first = this.#entries[entry + 2] as number;
    if ((this.#entries[entry + 3] as number) - first !== end - start) return false;
    const other = this.#sides[this.#entries[entry + 1] as 0 | 1].bytes;
    for (let i = start, j = first; i < end; i++, j++) if (bytes[i] !== other[j]) return false;
    return true;
  }

  /** Makes room for twice as many. Lines in the map stay there. */
  *#grow(): Steps<void> {
    this.#entries = grown(this.#entries);
    this.#mask = this.#mask * 2 + 1;
    this.#slots = new Int32Array((this.#mask + 1) * SLOT);
    const crowded = new Set(this.#crowded.values());
    for (let number = 0; number < this.count; number++) {
      if (!crowded.has(number)) this.#place(number);
      if (number % MOVES === MOVES - 1) yield;
    }
  }

  #place(number: number): void {
    const entry = number * ENTRY;
    const hash = this.#entries[entry] as number;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const slot = ((hash + probe) & this.#mask) * SLOT;
      if (this.#slots[slot] !== 0) continue;
      this.#slots[slot] = number + 1;
      this.#slots[slot + 1] = hash;
      return;
    }
    const { bytes } = this.#sides[this.#entries[entry + 1] as 0 | 1];
    this.#crowded.set(asKey(bytes, this.#entries[entry + 2] as number, this.#entries[entry + 3] as number), number);
  }
}

/** 32 bits of FNV-1a, stirred so that the low ones depend on all. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5 | 0;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}

function asKey(bytes: Uint8Array, start: number, end: number): string {
  return new TextDecoder('latin1').decode(bytes.subarray(start, end));
}
