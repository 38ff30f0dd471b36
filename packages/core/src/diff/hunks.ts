import type { Steps } from '../engine/scheduling/time-slice.js';
import { type Changes, findChanges } from './line-changes.js';
import { numberLines } from './line-numbers.js';
import type { Lines } from './lines.js';
import { type LineKind, LinePrinter } from './print-lines.js';

/** Bytes compared between two pauses. */
const SLICE_BYTES = 131_072;

/** Prints the hunks between two different texts, with up to `context` unchanged lines around each. */
export function* printHunks(a: Lines, b: Lines, context: number, maxWork: number, color: boolean): Steps<string> {
  const start = linesWithin(a, b, yield* commonStart(a.bytes, b.bytes));
  const end = linesAtEnd(a, b, yield* commonEnd(a.bytes, b.bytes), start);
  const numbers = yield* numberLines(
    { lines: a, from: start, to: a.count - end },
    { lines: b, from: start, to: b.count - end },
  );
  const changes = yield* findChanges(numbers, maxWork);
  for (let i = 0; i < changes.length; i++) changes[i] = (changes[i] as number) + start;
  const printer = new LinePrinter(color);
  for (let from = 0; from < changes.length; ) {
    const to = groupEnd(changes, from, context);
    yield* printHunk(a, b, changes.subarray(from, to), context, printer);
    from = to;
  }
  return printer.finish();
}

/** Returns the end of the group: changes whose contexts touch belong to one hunk. */
function groupEnd(changes: Changes, from: number, context: number): number {
  let to = from + 4;
  while (to < changes.length && (changes[to] as number) - (changes[to - 3] as number) <= 2 * context) to += 4;
  return to;
}

function* printHunk(a: Lines, b: Lines, changes: Changes, context: number, printer: LinePrinter): Steps<void> {
  const [aStart, , bStart] = changes as unknown as [number, number, number];
  const [aEnd, , bEnd] = changes.subarray(-3) as unknown as [number, number, number];
  const lead = Math.min(context, aStart);
  const tail = Math.min(context, a.count - aEnd);
  const left = range(aStart - lead, aEnd + tail);
  printer.own('hunk', `@@ -${left} +${range(bStart - lead, bEnd + tail)} @@`);
  let at = aStart - lead;
  for (let i = 0; i < changes.length; i += 4) {
    const from = changes[i] as number;
    const to = changes[i + 1] as number;
    yield* printRun('same', a, at, from, printer);
    yield* printRun('removed', a, from, to, printer);
    yield* printRun('added', b, changes[i + 2] as number, changes[i + 3] as number, printer);
    at = to;
  }
  yield* printRun('same', a, at, aEnd + tail, printer);
}

function* printRun(
  kind: LineKind,
  { bytes, starts }: Lines,
  from: number,
  to: number,
  printer: LinePrinter,
): Steps<void> {
  for (let line = from; line < to; line++) {
    const rest = printer.line(kind, bytes, starts[line] as number, starts[line + 1] as number);
    if (rest !== undefined) yield* rest;
  }
}

/** Formats a range of lines for a hunk's header, from 1; an empty range is named by the line before it. */
function range(start: number, end: number): string {
  const length = end - start;
  if (length === 1) return `${start + 1}`;
  return `${length === 0 ? start : start + 1},${length}`;
}

function* commonStart(a: Uint8Array, b: Uint8Array): Steps<number> {
  const most = Math.min(a.length, b.length);
  for (let at = 0; at < most; at += SLICE_BYTES) {
    const end = firstDifference(a, b, at, Math.min(most, at + SLICE_BYTES));
    if (end < at + SLICE_BYTES) return end;
    yield;
  }
  return most;
}

function firstDifference(a: Uint8Array, b: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && a[at] === b[at]) at++;
  return at;
}

function* commonEnd(a: Uint8Array, b: Uint8Array): Steps<number> {
  const most = Math.min(a.length, b.length);
  for (let length = 0; length < most; length += SLICE_BYTES) {
    const end = lastDifference(a, b, length, Math.min(most, length + SLICE_BYTES));
    if (end < length + SLICE_BYTES) return end;
    yield;
  }
  return most;
}

function lastDifference(a: Uint8Array, b: Uint8Array, from: number, to: number): number {
  let length = from;
  while (length < to && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}

/** Returns how many lines both texts share in their first `length` bytes. */
function linesWithin(a: Lines, b: Lines, length: number): number {
  let low = 0;
  let high = a.count;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((a.starts[middle] as number) <= length) low = middle;
    else high = middle - 1;
  }
  // A last line without a line break differs from the same line that continues on the other side.
  return low > 0 && a.starts[low] !== b.starts[low] ? low - 1 : low;
}

/** Returns how many lines both texts share in their last `length` bytes, not counting the first `start` lines. */
function linesAtEnd(a: Lines, b: Lines, length: number, start: number): number {
  const most = Math.min(a.count, b.count) - start;
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const [left, right] = [a, b].map((lines) => lines.bytes.length - (lines.starts[lines.count - middle] as number));
    if ((left as number) <= length && left === right) low = middle;
    else high = middle - 1;
  }
  return low;
}
