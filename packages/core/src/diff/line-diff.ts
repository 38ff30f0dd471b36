import { checkInteger, checkOptions } from '../engine/arguments.js';

/** A run of lines of `a` that a run of lines of `b` takes the place of; ends are exclusive, from 0. */
export interface LineChange {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

export interface LineDiffOptions {
  /** Comparisons after which what is left is taken for replaced as a whole. Default 20 million, some 0.2 s. */
  readonly maxWork?: number | undefined;
}

const MAX_WORK = 20_000_000;
/** Edits searched in one stretch before it is split where the search got furthest. */
const MIN_COST = 256;

/**
 * What leads from one list of lines to another, by the algorithm of Myers in linear space, so that as few lines as
 * possible are removed and added. Lines found on one side only are set aside first. Where two texts are too different,
 * the work is bounded: the answer is then right, but not the shortest.
 * @throws TypeError, RangeError for a `maxWork` that is no integer ≥ 0, TypeError for an unknown option
 */
export function diffLines(a: readonly string[], b: readonly string[], options?: LineDiffOptions): LineChange[] {
  const maxWork = checkInteger(checkOptions(options, ['maxWork'], 'diffLines').maxWork ?? MAX_WORK, 'maxWork');
  const shared = commonEnds(a, b);
  const numbers = new Map<string, number>();
  const number = (line: string): number => {
    let value = numbers.get(line);
    if (value === undefined) numbers.set(line, (value = numbers.size));
    return value;
  };
  const left = Int32Array.from(a.slice(shared.start, a.length - shared.end), number);
  const right = Int32Array.from(b.slice(shared.start, b.length - shared.end), number);
  const onLeft = new Uint8Array(numbers.size);
  const onRight = new Uint8Array(numbers.size);
  for (const line of left) onLeft[line] = 1;
  for (const line of right) onRight[line] = 1;
  const changedLeft = left.map((line) => 1 - (onRight[line] as number));
  const changedRight = right.map((line) => 1 - (onLeft[line] as number));
  const leftRest = unchanged(changedLeft);
  const rightRest = unchanged(changedRight);
  new Search(
    leftRest.map((at) => left[at] as number),
    rightRest.map((at) => right[at] as number),
    (at) => {
      changedLeft[leftRest[at] as number] = 1;
    },
    (at) => {
      changedRight[rightRest[at] as number] = 1;
    },
    maxWork,
  ).run();
  const changes = collect(changedLeft, changedRight);
  return slide(left, right, changes).map((change) => ({
    aStart: change.aStart + shared.start,
    aEnd: change.aEnd + shared.start,
    bStart: change.bStart + shared.start,
    bEnd: change.bEnd + shared.start,
  }));
}

function commonEnds(a: readonly string[], b: readonly string[]): { start: number; end: number } {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start++;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return { start, end };
}

function unchanged(changed: Int32Array): Int32Array {
  const places: number[] = [];
  changed.forEach((flag, at) => {
    if (flag === 0) places.push(at);
  });
  return Int32Array.from(places);
}

interface Box {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

class Search {
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  readonly #zero: number;
  readonly #maxCost: number;
  #work = 0;

  constructor(
    readonly a: Int32Array,
    readonly b: Int32Array,
    readonly removeA: (at: number) => void,
    readonly addB: (at: number) => void,
    readonly maxWork: number,
  ) {
    const size = a.length + b.length + 3;
    this.#forward = new Int32Array(2 * size);
    this.#backward = new Int32Array(2 * size);
    this.#zero = size;
    this.#maxCost = Math.max(MIN_COST, Math.ceil(Math.sqrt(size)));
  }

  run(): void {
    const { a, b } = this;
    const boxes: Box[] = [{ aStart: 0, aEnd: a.length, bStart: 0, bEnd: b.length }];
    for (let box = boxes.pop(); box !== undefined; box = boxes.pop()) {
      let { aStart, aEnd, bStart, bEnd } = box;
      while (aStart < aEnd && bStart < bEnd && a[aStart] === b[bStart]) {
        aStart++;
        bStart++;
      }
      while (aStart < aEnd && bStart < bEnd && a[aEnd - 1] === b[bEnd - 1]) {
        aEnd--;
        bEnd--;
      }
      if (aStart === aEnd || bStart === bEnd || this.#work >= this.maxWork) {
        for (let at = aStart; at < aEnd; at++) this.removeA(at);
        for (let at = bStart; at < bEnd; at++) this.addB(at);
        continue;
      }
      const [x, y] = this.#split(aStart, aEnd, bStart, bEnd);
      boxes.push({ aStart: x, aEnd, bStart: y, bEnd }, { aStart, aEnd: x, bStart, bEnd: y });
    }
  }

  /**
   * A point on a shortest way through a box whose first and last lines differ: searches from both corners, diagonal by
   * diagonal, until the ways meet; where that costs too much, the point furthest from its corner.
   */
  #split(aStart: number, aEnd: number, bStart: number, bEnd: number): [number, number] {
    const { a, b } = this;
    const forward = this.#forward;
    const backward = this.#backward;
    const lowest = aStart - bEnd;
    const highest = aEnd - bStart;
    const middleForward = aStart - bStart;
    const middleBackward = aEnd - bEnd;
    const zero = this.#zero;
    const isOdd = ((middleForward - middleBackward) & 1) !== 0;
    let forwardLow = middleForward;
    let forwardHigh = middleForward;
    let backwardLow = middleBackward;
    let backwardHigh = middleBackward;
    forward[zero + middleForward] = aStart;
    backward[zero + middleBackward] = aEnd;
    for (let cost = 1; ; cost++) {
      if (forwardLow > lowest) forward[zero + --forwardLow - 1] = -1;
      else forwardLow++;
      if (forwardHigh < highest) forward[zero + ++forwardHigh + 1] = -1;
      else forwardHigh--;
      for (let diagonal = forwardHigh; diagonal >= forwardLow; diagonal -= 2) {
        const below = forward[zero + diagonal - 1] as number;
        const above = forward[zero + diagonal + 1] as number;
        let x = below >= above ? below + 1 : above;
        const start = x;
        while (x < aEnd && x - diagonal < bEnd && a[x] === b[x - diagonal]) x++;
        this.#work += x - start + 1;
        forward[zero + diagonal] = x;
        if (
          isOdd &&
          diagonal >= backwardLow &&
          diagonal <= backwardHigh &&
          (backward[zero + diagonal] as number) <= x
        ) {
          return [x, x - diagonal];
        }
      }
      if (backwardLow > lowest) backward[zero + --backwardLow - 1] = FAR;
      else backwardLow++;
      if (backwardHigh < highest) backward[zero + ++backwardHigh + 1] = FAR;
      else backwardHigh--;
      for (let diagonal = backwardHigh; diagonal >= backwardLow; diagonal -= 2) {
        const below = backward[zero + diagonal - 1] as number;
        const above = backward[zero + diagonal + 1] as number;
        let x = below < above ? below : above - 1;
        const start = x;
        while (x > aStart && x - diagonal > bStart && a[x - 1] === b[x - 1 - diagonal]) x--;
        this.#work += start - x + 1;
        backward[zero + diagonal] = x;
        if (!isOdd && diagonal >= forwardLow && diagonal <= forwardHigh && x <= (forward[zero + diagonal] as number)) {
          return [x, x - diagonal];
        }
      }
      if (cost >= this.#maxCost || this.#work >= this.maxWork) {
        return this.#furthest(aStart, aEnd, bStart, bEnd, forwardLow, forwardHigh, backwardLow, backwardHigh);
      }
    }
  }

  #furthest(
    aStart: number,
    aEnd: number,
    bStart: number,
    bEnd: number,
    forwardLow: number,
    forwardHigh: number,
    backwardLow: number,
    backwardHigh: number,
  ): [number, number] {
    let best: [number, number] = [aStart, bStart];
    let most = -1;
    for (let diagonal = forwardHigh; diagonal >= forwardLow; diagonal -= 2) {
      const x = Math.min(this.#forward[this.#zero + diagonal] as number, aEnd, bEnd + diagonal);
      const gain = x - aStart + (x - diagonal - bStart);
      if (x >= aStart && x - diagonal >= bStart && gain > most) [best, most] = [[x, x - diagonal], gain];
    }
    for (let diagonal = backwardHigh; diagonal >= backwardLow; diagonal -= 2) {
      const x = Math.max(this.#backward[this.#zero + diagonal] as number, aStart, bStart + diagonal);
      const gain = aEnd - x + (bEnd - (x - diagonal));
      if (x <= aEnd && x - diagonal <= bEnd && gain > most) [best, most] = [[x, x - diagonal], gain];
    }
    return best;
  }
}

const FAR = 0x7fffffff;

function collect(changedLeft: Int32Array, changedRight: Int32Array): LineChange[] {
  const changes: LineChange[] = [];
  let a = 0;
  let b = 0;
  while (a < changedLeft.length || b < changedRight.length) {
    const aStart = a;
    const bStart = b;
    while (changedLeft[a] === 1) a++;
    while (changedRight[b] === 1) b++;
    if (a > aStart || b > bStart) changes.push({ aStart, aEnd: a, bStart, bEnd: b });
    else {
      a++;
      b++;
    }
  }
  return changes;
}

/** Moves what was only removed or only added as far down as the same lines allow, as diff and git show it. */
function slide(a: Int32Array, b: Int32Array, changes: readonly LineChange[]): LineChange[] {
  const slid: LineChange[] = [];
  for (let i = changes.length - 1; i >= 0; i--) {
    let { aStart, aEnd, bStart, bEnd } = changes[i] as LineChange;
    const next = slid.at(-1);
    const limit = next ? next.aStart : a.length;
    if (aStart === aEnd) {
      while (aEnd < limit && b[bStart] === b[bEnd]) {
        aStart++;
        aEnd++;
        bStart++;
        bEnd++;
      }
    } else if (bStart === bEnd) {
      while (aEnd < limit && a[aStart] === a[aEnd]) {
        aStart++;
        aEnd++;
        bStart++;
        bEnd++;
      }
    }
    if (next && aEnd === next.aStart && bEnd === next.bStart) {
      slid[slid.length - 1] = { aStart, aEnd: next.aEnd, bStart, bEnd: next.bEnd };
    } else slid.push({ aStart, aEnd, bStart, bEnd });
  }
  return slid.reverse();
}
