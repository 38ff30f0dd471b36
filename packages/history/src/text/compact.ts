import type { Marks } from './changes.js';

/** A run of changed lines, possibly empty, between two unchanged ones. */
class Group {
  start = 0;
  end = 0;

  constructor(
    readonly numbers: Int32Array,
    readonly marks: Marks,
  ) {
    this.#grow();
  }

  get isEmpty(): boolean {
    return this.start === this.end;
  }

  next(): boolean {
    if (this.end === this.numbers.length) return false;
    this.start = this.end = this.end + 1;
    this.#grow();
    return true;
  }

  previous(): boolean {
    if (this.start === 0) return false;
    this.start = this.end = this.start - 1;
    this.#reach();
    return true;
  }

  /** Moves the run one line down and merges it with a run it meets. Returns false if the lines do not allow it. */
  slideDown(): boolean {
    if (this.end >= this.numbers.length || this.numbers[this.start] !== this.numbers[this.end]) return false;
    this.marks[this.start++] = 0;
    this.marks[this.end++] = 1;
    this.#grow();
    return true;
  }

  slideUp(): boolean {
    if (this.start === 0 || this.numbers[this.start - 1] !== this.numbers[this.end - 1]) return false;
    this.marks[--this.start] = 1;
    this.marks[--this.end] = 0;
    this.#reach();
    return true;
  }

  #grow(): void {
    while (this.marks[this.end] === 1) this.end++;
  }

  #reach(): void {
    while (this.start > 0 && this.marks[this.start - 1] === 1) this.start--;
  }
}

/**
 * Moves runs of changed lines as `git merge` does if equal lines around them leave a choice. Runs that can meet are
 * merged. A run that can be next to one of the other side moves there. Any other run moves as far down as possible.
 */
export function compact(numbers: Int32Array, marks: Marks, otherNumbers: Int32Array, otherMarks: Marks): void {
  const group = new Group(numbers, marks);
  const other = new Group(otherNumbers, otherMarks);
  do {
    if (!group.isEmpty) settle(group, other);
  } while (group.next() && other.next());
}

function settle(group: Group, other: Group): void {
  let size: number;
  let highest: number;
  let beside: boolean;
  do {
    size = group.end - group.start;
    beside = false;
    while (group.slideUp()) other.previous();
    highest = group.end;
    if (!other.isEmpty) beside = true;
    while (group.slideDown()) {
      other.next();
      if (!other.isEmpty) beside = true;
    }
  } while (size !== group.end - group.start);
  if (group.end === highest || !beside) return;
  while (other.isEmpty) {
    group.slideUp();
    other.previous();
  }
}
