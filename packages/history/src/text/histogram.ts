import type { Marks } from './changes.js';
import { markByMyers } from './myers.js';

/** Maximum number of times that a line may occur on the left side to be used as a landmark. */
const MAX_OCCURRENCES = 64;

interface Landmark {
  aStart: number;
  /** Both ends are inclusive, unlike those of a {@link Range}. */
  aEnd: number;
  bStart: number;
  bEnd: number;
}

interface Range {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

/**
 * Marks the differences of two texts by their rarest common lines, as `git merge` does (`--diff-algorithm=histogram`).
 * A range in which all common lines are frequent is compared by {@link markByMyers}.
 */
export function markByHistogram(a: Int32Array, b: Int32Array, marksA: Marks, marksB: Marks): void {
  const ranges: Range[] = [{ aStart: 0, aEnd: a.length, bStart: 0, bEnd: b.length }];
  for (let range = ranges.pop(); range !== undefined; range = ranges.pop()) {
    const { aStart, aEnd, bStart, bEnd } = range;
    if (aStart === aEnd || bStart === bEnd) {
      marksA.fill(1, aStart, aEnd);
      marksB.fill(1, bStart, bEnd);
      continue;
    }
    const found = new Landmarks(a, b, range).find();
    if (found === 'too frequent') {
      const [left, right] = [marksA.subarray(aStart, aEnd), marksB.subarray(bStart, bEnd)];
      markByMyers(a.subarray(aStart, aEnd), b.subarray(bStart, bEnd), left, right);
    } else if (found === undefined) {
      marksA.fill(1, aStart, aEnd);
      marksB.fill(1, bStart, bEnd);
    } else {
      ranges.push({ aStart: found.aEnd + 1, aEnd, bStart: found.bEnd + 1, bEnd });
      ranges.push({ aStart, aEnd: found.aStart, bStart, bEnd: found.bStart });
    }
  }
}

/** Finds the longest common run around the rarest common line of a range. */
class Landmarks {
  /** First occurrence on the left, by line. */
  readonly #first = new Map<number, number>();
  readonly #next: Int32Array;
  readonly #count = new Map<number, number>();
  #rarest = MAX_OCCURRENCES + 1;
  #hasCommon = false;
  #best: Landmark | undefined;

  constructor(
    readonly a: Int32Array,
    readonly b: Int32Array,
    readonly range: Range,
  ) {
    const { aStart, aEnd } = range;
    this.#next = new Int32Array(aEnd - aStart).fill(-1);
    for (let i = aEnd - 1; i >= aStart; i--) {
      const line = a[i] as number;
      this.#next[i - aStart] = this.#first.get(line) ?? -1;
      this.#first.set(line, i);
      this.#count.set(line, (this.#count.get(line) ?? 0) + 1);
    }
  }

  find(): Landmark | 'too frequent' | undefined {
    const { bStart, bEnd } = this.range;
    for (let j = bStart; j < bEnd; ) j = this.#try(j);
    // git gives up on a line that occurs once too often, even if it has found a landmark around it.
    return this.#hasCommon && this.#rarest > MAX_OCCURRENCES ? 'too frequent' : this.#best;
  }

  /** Tries all counterparts of a line on the right and returns the next line to try. */
  #try(j: number): number {
    const { aStart, aEnd, bStart, bEnd } = this.range;
    const line = this.b[j] as number;
    const count = this.#count.get(line);
    if (count === undefined) return j + 1;
    this.#hasCommon = true;
    if (count > this.#rarest) return j + 1;
    let goOn = j + 1;
    for (let i = this.#first.get(line) as number; i >= 0; ) {
      let [from, fromB, to, toB, rarity] = [i, j, i, j, count];
      while (from > aStart && fromB > bStart && this.a[from - 1] === this.b[fromB - 1]) {
        from--;
        fromB--;
        if (rarity > 1) rarity = Math.min(rarity, this.#count.get(this.a[from] as number) as number);
      }
      while (to < aEnd - 1 && toB < bEnd - 1 && this.a[to + 1] === this.b[toB + 1]) {
        to++;
        toB++;
        if (rarity > 1) rarity = Math.min(rarity, this.#count.get(this.a[to] as number) as number);
      }
      if (goOn <= toB) goOn = toB + 1;
      const length = this.#best === undefined ? 0 : this.#best.aEnd - this.#best.aStart;
      if (length < to - from || rarity < this.#rarest) {
        this.#best = { aStart: from, aEnd: to, bStart: fromB, bEnd: toB };
        this.#rarest = rarity;
      }
      do i = this.#next[i - aStart] as number;
      while (i >= 0 && i <= to);
    }
    return goOn;
  }
}
