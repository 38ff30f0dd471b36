import type { Steps } from '../engine/scheduling/time-slice.js';

interface Box {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

/** A box is searched for a shortest path up to this number of edits at least, unless `maxWork` ends the search. */
const MIN_SPLIT_EDITS = 256;
/** Comparisons between two pauses, about 2 ms. */
const SLICE_COMPARISONS = 200_000;
const UNREACHED = 0x7fffffff;

/**
 * The algorithm of Myers in linear space: finds which numbers of `a` are removed and which of `b` are added. Its work
 * is bounded, in total and for each box: beyond a bound the result is correct, but perhaps not the shortest.
 */
export class LineSearch {
  /** 1 for each removed line of `a`, and for each added line of `b`. */
  readonly removed: Uint8Array;
  readonly added: Uint8Array;
  readonly #a: Int32Array;
  readonly #b: Int32Array;
  readonly #maxWork: number;
  readonly #maxCost: number;
  /** Furthest point on each diagonal, from either corner. */
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  #work = 0;
  #pause = SLICE_COMPARISONS;
  // The searched box, the array offsets of its corners' diagonals, and the searched diagonals.
  #aStart = 0;
  #aEnd = 0;
  #bStart = 0;
  #bEnd = 0;
  #cost = 0;
  #forwardZero = 0;
  #backwardZero = 0;
  #forwardLow = 0;
  #forwardHigh = 0;
  #backwardLow = 0;
  #backwardHigh = 0;
  // The point at which the box is split.
  #x = 0;
  #y = 0;

  constructor(a: Int32Array, b: Int32Array, maxWork: number) {
    this.#a = a;
    this.#b = b;
    this.#maxWork = maxWork;
    this.removed = new Uint8Array(a.length);
    this.added = new Uint8Array(b.length);
    const lines = a.length + b.length;
    this.#maxCost = Math.min(lines + 1, Math.max(MIN_SPLIT_EDITS, Math.ceil(Math.sqrt(lines + 3))));
    this.#forward = new Int32Array(2 * this.#maxCost + 5);
    this.#backward = new Int32Array(2 * this.#maxCost + 5);
  }

  *run(): Steps<void> {
    const boxes: Box[] = [{ aStart: 0, aEnd: this.#a.length, bStart: 0, bEnd: this.#b.length }];
    let moves = 0;
    for (let box = boxes.pop(); box !== undefined; box = boxes.pop()) {
      const { aStart, aEnd, bStart, bEnd } = this.#trim(box);
      moves += box.aEnd - box.aStart - (aEnd - aStart) + 1;
      if (moves >= SLICE_COMPARISONS || this.#work >= this.#pause) {
        moves = 0;
        this.#pause = this.#work + SLICE_COMPARISONS;
        yield;
      }
      if (aStart === aEnd || bStart === bEnd || this.#work >= this.#maxWork) {
        this.removed.fill(1, aStart, aEnd);
        this.added.fill(1, bStart, bEnd);
        continue;
      }
      this.#begin(aStart, aEnd, bStart, bEnd);
      while (!this.#advance()) yield;
      const [x, y] = [this.#x, this.#y];
      boxes.push({ aStart: x, aEnd, bStart: y, bEnd }, { aStart, aEnd: x, bStart, bEnd: y });
    }
  }

  /** Returns the box without the lines that both sides begin or end with. */
  #trim({ aStart, aEnd, bStart, bEnd }: Box): Box {
    const a = this.#a;
    const b = this.#b;
    while (aStart < aEnd && bStart < bEnd && a[aStart] === b[bStart]) {
      aStart++;
      bStart++;
    }
    while (aStart < aEnd && bStart < bEnd && a[aEnd - 1] === b[bEnd - 1]) {
      aEnd--;
      bEnd--;
    }
    return { aStart, aEnd, bStart, bEnd };
  }

  #begin(aStart: number, aEnd: number, bStart: number, bEnd: number): void {
    this.#aStart = aStart;
    this.#aEnd = aEnd;
    this.#bStart = bStart;
    this.#bEnd = bEnd;
    this.#cost = 1;
    this.#forwardLow = this.#forwardHigh = aStart - bStart;
    this.#backwardLow = this.#backwardHigh = aEnd - bEnd;
    this.#forwardZero = this.#maxCost + 2 - this.#forwardLow;
    this.#backwardZero = this.#maxCost + 2 - this.#backwardLow;
    this.#forward[this.#maxCost + 2] = aStart;
    this.#backward[this.#maxCost + 2] = aEnd;
  }

  /**
   * Searches for a point on a shortest path through the box, whose first and last lines differ: from both corners,
   * diagonal by diagonal, until the paths meet. If that costs too much, it takes the point furthest from its corner.
   * Returns false if it stopped for a pause.
   */
  #advance(): boolean {
    const a = this.#a;
    const b = this.#b;
    const aStart = this.#aStart;
    const aEnd = this.#aEnd;
    const bStart = this.#bStart;
    const bEnd = this.#bEnd;
    const forward = this.#forward;
    const backward = this.#backward;
    const forwardZero = this.#forwardZero;
    const backwardZero = this.#backwardZero;
    const lowest = aStart - bEnd;
    const highest = aEnd - bStart;
    const isOdd = ((aStart - bStart - (aEnd - bEnd)) & 1) !== 0;
    let forwardLow = this.#forwardLow;
    let forwardHigh = this.#forwardHigh;
    let backwardLow = this.#backwardLow;
    let backwardHigh = this.#backwardHigh;
    let work = this.#work;
    for (let cost = this.#cost; ; cost++) {
      if (forwardLow > lowest) forward[forwardZero + --forwardLow - 1] = -1;
      else forwardLow++;
      if (forwardHigh < highest) forward[forwardZero + ++forwardHigh + 1] = -1;
      else forwardHigh--;
      for (let diagonal = forwardHigh; diagonal >= forwardLow; diagonal -= 2) {
        const below = forward[forwardZero + diagonal - 1] as number;
        const above = forward[forwardZero + diagonal + 1] as number;
        let x = below >= above ? below + 1 : above;
        const start = x;
        while (x < aEnd && x - diagonal < bEnd && a[x] === b[x - diagonal]) x++;
        work += x - start + 1;
        forward[forwardZero + diagonal] = x;
        if (
          isOdd &&
          diagonal >= backwardLow &&
          diagonal <= backwardHigh &&
          (backward[backwardZero + diagonal] as number) <= x
        ) {
          return this.#meet(x, diagonal, work);
        }
      }
      if (backwardLow > lowest) backward[backwardZero + --backwardLow - 1] = UNREACHED;
      else backwardLow++;
      if (backwardHigh < highest) backward[backwardZero + ++backwardHigh + 1] = UNREACHED;
      else backwardHigh--;
      for (let diagonal = backwardHigh; diagonal >= backwardLow; diagonal -= 2) {
        const below = backward[backwardZero + diagonal - 1] as number;
        const above = backward[backwardZero + diagonal + 1] as number;
        let x = below < above ? below : above - 1;
        const start = x;
        while (x > aStart && x - diagonal > bStart && a[x - 1] === b[x - 1 - diagonal]) x--;
        work += start - x + 1;
        backward[backwardZero + diagonal] = x;
        if (
          !isOdd &&
          diagonal >= forwardLow &&
          diagonal <= forwardHigh &&
          x <= (forward[forwardZero + diagonal] as number)
        ) {
          return this.#meet(x, diagonal, work);
        }
      }
      const isGivenUp = cost >= this.#maxCost || work >= this.#maxWork;
      if (!isGivenUp && work < this.#pause) continue;
      this.#forwardLow = forwardLow;
      this.#forwardHigh = forwardHigh;
      this.#backwardLow = backwardLow;
      this.#backwardHigh = backwardHigh;
      this.#work = work;
      if (isGivenUp) {
        this.#takeFurthest();
        return true;
      }
      this.#cost = cost + 1;
      this.#pause = work + SLICE_COMPARISONS;
      return false;
    }
  }

  #meet(x: number, diagonal: number, work: number): true {
    this.#x = x;
    this.#y = x - diagonal;
    this.#work = work;
    return true;
  }

  #takeFurthest(): void {
    const aStart = this.#aStart;
    const aEnd = this.#aEnd;
    const bStart = this.#bStart;
    const bEnd = this.#bEnd;
    this.#x = aStart;
    this.#y = bStart;
    let most = -1;
    for (let diagonal = this.#forwardHigh; diagonal >= this.#forwardLow; diagonal -= 2) {
      const x = Math.min(this.#forward[this.#forwardZero + diagonal] as number, aEnd, bEnd + diagonal);
      const gain = x - aStart + (x - diagonal - bStart);
      if (x >= aStart && x - diagonal >= bStart && gain > most) {
        this.#x = x;
        this.#y = x - diagonal;
        most = gain;
      }
    }
    for (let diagonal = this.#backwardHigh; diagonal >= this.#backwardLow; diagonal -= 2) {
      const x = Math.max(this.#backward[this.#backwardZero + diagonal] as number, aStart, bStart + diagonal);
      const gain = aEnd - x + (bEnd - (x - diagonal));
      if (x <= aEnd && x - diagonal <= bEnd && gain > most) {
        this.#x = x;
        this.#y = x - diagonal;
        most = gain;
      }
    }
  }
}
