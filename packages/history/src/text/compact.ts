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

  /** One line down, taking in what it meets; false where the text does not allow it. */
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
 * Moves each run of changed lines, where equal lines around it leave the choice, as git does: runs that can meet become
 * one, a run that can stand beside one of the other side does, and else it lies as far down as it can.
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
