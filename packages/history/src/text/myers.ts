import type { Marks } from './changes.js';

/** A run of more equal lines than this is a sign of a good path (git: XDL_SNAKE_CNT). */
const LONG_RUN_LINES = 20;
/** Number of edits after which a search may end at a good path instead of a shortest one (git: XDL_HEUR_MIN_COST). */
const MIN_HEURISTIC_COST = 256;
const HEURISTIC_FACTOR = 4;
/** Upper bound for the number of occurrences from which on a line counts as frequent (git: XDL_MAX_EQLIMIT). */
const MAX_FREQUENT_LIMIT = 1_024;
/** Number of lines to inspect before and after a frequent line (git: XDL_SIMSCAN_WINDOW). */
const WINDOW_LINES = 100;
const UNREACHED = 2 ** 30;

/**
 * Marks the differences of two texts by the linear-space algorithm of Myers, with git's shortcuts. Common lines at both
 * ends and lines without a counterpart are set aside first, and a long search ends at a good path. Marks the same lines
 * as `git diff --diff-algorithm=myers` before it shifts them.
 */
export function markByMyers(a: Int32Array, b: Int32Array, marksA: Marks, marksB: Marks): void {
  let start = 0;
  const most = Math.min(a.length, b.length);
  while (start < most && a[start] === b[start]) start++;
  let ends = 0;
  while (ends < most - start && a[a.length - 1 - ends] === b[b.length - 1 - ends]) ends++;
  const left = kept(a, countsOf(b), start, a.length - ends, marksA);
  const right = kept(b, countsOf(a), start, b.length - ends, marksB);
  new Search(a, b, left, right, marksA, marksB).run();
}

function countsOf(numbers: Int32Array): Map<number, number> {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  return counts;
}

/** Returns a power of two near the square root. */
function roughRoot(value: number): number {
  let root = 1;
  for (let rest = value; rest > 0; rest = Math.floor(rest / 4)) root *= 2;
  return root;
}

const UNMATCHED = 0;
const MATCHED = 1;
const FREQUENT = 2;

/** Returns the positions of the lines from `start` to `end` that are to be compared, and marks the others. */
function kept(numbers: Int32Array, others: Map<number, number>, start: number, end: number, marks: Marks): Int32Array {
  const limit = Math.min(roughRoot(numbers.length), MAX_FREQUENT_LIMIT);
  const classes = new Uint8Array(numbers.length);
  for (let i = start; i < end; i++) {
    const count = others.get(numbers[i] as number) ?? 0;
    classes[i] = count === 0 ? UNMATCHED : count >= limit ? FREQUENT : MATCHED;
  }
  const positions: number[] = [];
  for (let i = start; i < end; i++) {
    if (classes[i] === MATCHED || (classes[i] === FREQUENT && !isLost(classes, i, start, end - 1))) positions.push(i);
    else marks[i] = 1;
  }
  return Int32Array.from(positions);
}

/** Reports whether a frequent line is among so many lines without a counterpart that it is not worth comparing. */
function isLost(classes: Uint8Array, at: number, start: number, last: number): boolean {
  const from = Math.max(start, at - WINDOW_LINES);
  const to = Math.min(last, at + WINDOW_LINES);
  let nowhereBefore = 0;
  let often = 1;
  for (let i = at - 1; i >= from && classes[i] !== MATCHED; i--) classes[i] === UNMATCHED ? nowhereBefore++ : often++;
  if (nowhereBefore === 0) return false;
  let nowhereAfter = 0;
  often += 1;
  for (let i = at + 1; i <= to && classes[i] !== MATCHED; i++) classes[i] === UNMATCHED ? nowhereAfter++ : often++;
  if (nowhereAfter === 0) return false;
  return often * HEURISTIC_FACTOR < often + nowhereBefore + nowhereAfter;
}

interface Box {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
  /** True if a shortest path is required, however long the search takes. */
  readonly exact: boolean;
}

interface Split {
  readonly a: number;
  readonly b: number;
  readonly exactBefore: boolean;
  readonly exactAfter: boolean;
}

class Search {
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  /** Index of diagonal 0 in both arrays. */
  readonly #zero: number;
  readonly #maxCost: number;

  constructor(
    readonly a: Int32Array,
    readonly b: Int32Array,
    readonly left: Int32Array,
    readonly right: Int32Array,
    readonly marksA: Marks,
    readonly marksB: Marks,
  ) {
    const diagonals = left.length + right.length + 3;
    this.#forward = new Int32Array(diagonals + 1);
    this.#backward = new Int32Array(diagonals + 1);
    this.#zero = right.length + 1;
    this.#maxCost = Math.max(MIN_HEURISTIC_COST, roughRoot(diagonals));
  }

  run(): void {
    const boxes: Box[] = [{ aStart: 0, aEnd: this.left.length, bStart: 0, bEnd: this.right.length, exact: false }];
    for (let box = boxes.pop(); box !== undefined; box = boxes.pop()) {
      let { aStart, aEnd, bStart, bEnd } = box;
      while (aStart < aEnd && bStart < bEnd && this.#equal(aStart, bStart)) {
        aStart++;
        bStart++;
      }
      while (aStart < aEnd && bStart < bEnd && this.#equal(aEnd - 1, bEnd - 1)) {
        aEnd--;
        bEnd--;
      }
      if (aStart === aEnd) for (let i = bStart; i < bEnd; i++) this.marksB[this.right[i] as number] = 1;
      else if (bStart === bEnd) for (let i = aStart; i < aEnd; i++) this.marksA[this.left[i] as number] = 1;
      else {
        const { a, b, exactBefore, exactAfter } = this.#split({ aStart, aEnd, bStart, bEnd, exact: box.exact });
        boxes.push({ aStart: a, aEnd, bStart: b, bEnd, exact: exactAfter });
        boxes.push({ aStart, aEnd: a, bStart, bEnd: b, exact: exactBefore });
      }
    }
  }

  #equal(i: number, j: number): boolean {
    return this.a[this.left[i] as number] === this.b[this.right[j] as number];
  }

  /** Returns a point on a shortest (or good) path through the box. Searches from both corners in turn. */
  #split(box: Box): Split {
    const { aStart, aEnd, bStart, bEnd } = box;
    const zero = this.#zero;
    const forward = this.#forward;
    const backward = this.#backward;
    const lowest = aStart - bEnd;
    const highest = aEnd - bStart;
    const middleForward = aStart - bStart;
    const middleBackward = aEnd - bEnd;
    const odd = ((middleForward - middleBackward) & 1) !== 0;
    let [fMin, fMax, bMin, bMax] = [middleForward, middleForward, middleBackward, middleBackward];
    forward[zero + middleForward] = aStart;
    backward[zero + middleBackward] = aEnd;
    for (let cost = 1; ; cost++) {
      let foundRun = false;
      if (fMin > lowest) forward[zero + --fMin - 1] = -1;
      else fMin++;
      if (fMax < highest) forward[zero + ++fMax + 1] = -1;
      else fMax--;
      for (let d = fMax; d >= fMin; d -= 2) {
        const below = forward[zero + d - 1] as number;
        const above = forward[zero + d + 1] as number;
        const from = below >= above ? below + 1 : above;
        let i = from;
        while (i < aEnd && i - d < bEnd && this.#equal(i, i - d)) i++;
        if (i - from > LONG_RUN_LINES) foundRun = true;
        forward[zero + d] = i;
        if (odd && bMin <= d && d <= bMax && (backward[zero + d] as number) <= i)
          return { a: i, b: i - d, exactBefore: true, exactAfter: true };
      }
      if (bMin > lowest) backward[zero + --bMin - 1] = UNREACHED;
      else bMin++;
      if (bMax < highest) backward[zero + ++bMax + 1] = UNREACHED;
      else bMax--;
      for (let d = bMax; d >= bMin; d -= 2) {
        const below = backward[zero + d - 1] as number;
        const above = backward[zero + d + 1] as number;
        const from = below < above ? below : above - 1;
        let i = from;
        while (i > aStart && i - d > bStart && this.#equal(i - 1, i - d - 1)) i--;
        if (from - i > LONG_RUN_LINES) foundRun = true;
        backward[zero + d] = i;
        if (!odd && fMin <= d && d <= fMax && i <= (forward[zero + d] as number))
          return { a: i, b: i - d, exactBefore: true, exactAfter: true };
      }
      if (box.exact) continue;
      const good =
        foundRun && cost > MIN_HEURISTIC_COST
          ? (this.#goodForward(box, cost, fMin, fMax) ?? this.#goodBackward(box, cost, bMin, bMax))
          : undefined;
      if (good !== undefined) return good;
      if (cost >= this.#maxCost) return this.#furthest(box, fMin, fMax, bMin, bMax);
    }
  }

  #goodForward({ aStart, aEnd, bStart, bEnd }: Box, cost: number, min: number, max: number): Split | undefined {
    let best = 0;
    let split: Split | undefined;
    for (let d = max; d >= min; d -= 2) {
      const i = this.#forward[this.#zero + d] as number;
      const j = i - d;
      const value = i - aStart + (j - bStart) - Math.abs(d - (aStart - bStart));
      if (value <= HEURISTIC_FACTOR * cost || value <= best) continue;
      if (aStart + LONG_RUN_LINES > i || i >= aEnd || bStart + LONG_RUN_LINES > j || j >= bEnd) continue;
      let run = 1;
      while (run <= LONG_RUN_LINES && this.#equal(i - run, j - run)) run++;
      if (run <= LONG_RUN_LINES) continue;
      best = value;
      split = { a: i, b: j, exactBefore: true, exactAfter: false };
    }
    return split;
  }

  #goodBackward({ aStart, aEnd, bStart, bEnd }: Box, cost: number, min: number, max: number): Split | undefined {
    let best = 0;
    let split: Split | undefined;
    for (let d = max; d >= min; d -= 2) {
      const i = this.#backward[this.#zero + d] as number;
      const j = i - d;
      const value = aEnd - i + (bEnd - j) - Math.abs(d - (aEnd - bEnd));
      if (value <= HEURISTIC_FACTOR * cost || value <= best) continue;
      if (aStart >= i || i > aEnd - LONG_RUN_LINES || bStart >= j || j > bEnd - LONG_RUN_LINES) continue;
      let run = 0;
      while (run < LONG_RUN_LINES && this.#equal(i + run, j + run)) run++;
      if (run < LONG_RUN_LINES) continue;
      best = value;
      split = { a: i, b: j, exactBefore: false, exactAfter: true };
    }
    return split;
  }

  #furthest({ aStart, aEnd, bStart, bEnd }: Box, fMin: number, fMax: number, bMin: number, bMax: number): Split {
    let [reached, reachedA] = [-1, -1];
    for (let d = fMax; d >= fMin; d -= 2) {
      let i = Math.min(this.#forward[this.#zero + d] as number, aEnd);
      if (bEnd < i - d) i = bEnd + d;
      if (reached < i + i - d) [reached, reachedA] = [i + i - d, i];
    }
    let [left, leftA] = [UNREACHED, UNREACHED];
    for (let d = bMax; d >= bMin; d -= 2) {
      let i = Math.max(aStart, this.#backward[this.#zero + d] as number);
      if (i - d < bStart) i = bStart + d;
      if (i + i - d < left) [left, leftA] = [i + i - d, i];
    }
    return aEnd + bEnd - left < reached - (aStart + bStart)
      ? { a: reachedA, b: reached - reachedA, exactBefore: true, exactAfter: false }
      : { a: leftA, b: left - leftA, exactBefore: false, exactAfter: true };
  }
}
