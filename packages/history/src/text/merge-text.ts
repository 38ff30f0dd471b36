import { concat } from '../primitives.js';
import { type Change, changesOf } from './changes.js';
import { compact } from './compact.js';
import { markByHistogram } from './histogram.js';
import { type Lines, linesOf, sliceLines } from './lines.js';
import { markByMyers } from './myers.js';

/** Algorithm that compares texts: `histogram` as in `git merge`, `myers` as in `git merge-file`. */
export type DiffAlgorithm = 'histogram' | 'myers';

export interface MergeTextOptions {
  /** Default `histogram`. */
  readonly algorithm?: DiffAlgorithm | undefined;
  /**
   * Takes one side (or both, one after the other) if both changed the same or adjacent lines. Default: conflict
   * markers.
   */
  readonly favor?: 'ours' | 'theirs' | 'union' | undefined;
  /** Text after the conflict markers. Default `ours` and `theirs`. */
  readonly labels?: { readonly ours: string; readonly theirs: string } | undefined;
  /** Length of the conflict markers. Default 7. */
  readonly markerSize?: number | undefined;
  /**
   * Joins conflicts that are separated only by lines without ASCII letters and digits, as `git merge-file` does. Default
   * false.
   */
  readonly joinAcrossPunctuation?: boolean | undefined;
}

export interface MergedText {
  readonly bytes: Uint8Array;
  /** Number of marked conflicts. */
  readonly conflicts: number;
}

const CONFLICT = 0;
const OURS = 1;
const THEIRS = 2;
const SAME = 4;

/** A range in which the sides differ from the base or from each other. */
interface Hunk {
  mode: number;
  base: number;
  baseEnd: number;
  ours: number;
  oursEnd: number;
  theirs: number;
  theirsEnd: number;
}

/** Maximum number of lines between two conflicts that are joined. */
const MAX_JOINED_LINES = 3;

/** Merges texts three-way by lines, with git's verdicts, bytes and conflict markers. */
export function mergeText(
  base: Uint8Array,
  ours: Uint8Array,
  theirs: Uint8Array,
  options: MergeTextOptions = {},
): MergedText {
  const [o, a, b] = linesOf([base, ours, theirs]) as [Lines, Lines, Lines];
  const { algorithm = 'histogram' } = options;
  const left = compare(o, a, algorithm);
  const right = compare(o, b, algorithm);
  if (left.length === 0) return { bytes: theirs.slice(), conflicts: 0 };
  if (right.length === 0) return { bytes: ours.slice(), conflicts: 0 };
  let hunks = refine(combine(left, right, a, b), a, b, algorithm);
  hunks = joinNear(hunks, a, options.joinAcrossPunctuation === true);
  return print(hunks, o, a, b, options);
}

function compare(a: Lines, b: Lines, algorithm: DiffAlgorithm): Change[] {
  const marksA = new Uint8Array(a.numbers.length + 1);
  const marksB = new Uint8Array(b.numbers.length + 1);
  const mark = algorithm === 'histogram' ? markByHistogram : markByMyers;
  mark(a.numbers, b.numbers, marksA, marksB);
  compact(a.numbers, marksA, b.numbers, marksB);
  compact(b.numbers, marksB, a.numbers, marksA);
  return changesOf(marksA, marksB);
}

/** Combines the changes of both sides in order. Different changes that overlap or touch in the base conflict. */
function combine(left: readonly Change[], right: readonly Change[], a: Lines, b: Lines): Hunk[] {
  const hunks: Hunk[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length && j < right.length) {
    const x = left[i] as Change;
    const y = right[j] as Change;
    if (x.aEnd < y.aStart) {
      append(hunks, ofOurs(x, y.bStart - y.aStart));
      i++;
      continue;
    }
    if (y.aEnd < x.aStart) {
      append(hunks, ofTheirs(y, x.bStart - x.aStart));
      j++;
      continue;
    }
    if (!isSame(x, y, a, b)) append(hunks, conflictOf(x, y));
    if (x.aEnd >= y.aEnd) j++;
    if (y.aEnd >= x.aEnd) i++;
  }
  for (; i < left.length; i++) append(hunks, ofOurs(left[i] as Change, shiftAfter(right.at(-1))));
  for (; j < right.length; j++) append(hunks, ofTheirs(right[j] as Change, shiftAfter(left.at(-1))));
  return hunks;
}

/** Returns the number of lines by which a change shifts the lines after it. */
function shiftAfter(change: Change | undefined): number {
  return change === undefined ? 0 : change.bEnd - change.aEnd;
}

function ofOurs({ aStart, aEnd, bStart, bEnd }: Change, shift: number): Hunk {
  const theirs = { theirs: aStart + shift, theirsEnd: aEnd + shift };
  return { mode: OURS, base: aStart, baseEnd: aEnd, ours: bStart, oursEnd: bEnd, ...theirs };
}

function ofTheirs({ aStart, aEnd, bStart, bEnd }: Change, shift: number): Hunk {
  const ours = { ours: aStart + shift, oursEnd: aEnd + shift };
  return { mode: THEIRS, base: aStart, baseEnd: aEnd, ...ours, theirs: bStart, theirsEnd: bEnd };
}

function conflictOf(x: Change, y: Change): Hunk {
  const base = Math.min(x.aStart, y.aStart);
  const baseEnd = Math.max(x.aEnd, y.aEnd);
  return {
    mode: CONFLICT,
    base,
    baseEnd,
    ours: x.bStart - (x.aStart - base),
    oursEnd: x.bEnd + (baseEnd - x.aEnd),
    theirs: y.bStart - (y.aStart - base),
    theirsEnd: y.bEnd + (baseEnd - y.aEnd),
  };
}

function isSame(x: Change, y: Change, a: Lines, b: Lines): boolean {
  if (x.aStart !== y.aStart || x.aEnd !== y.aEnd || x.bEnd - x.bStart !== y.bEnd - y.bStart) return false;
  for (let k = 0; k < x.bEnd - x.bStart; k++) if (a.numbers[x.bStart + k] !== b.numbers[y.bStart + k]) return false;
  return true;
}

/** Appends a hunk. If it touches the last hunk, both are merged into one; hunks of both sides become a conflict. */
function append(hunks: Hunk[], hunk: Hunk): void {
  const last = hunks.at(-1);
  if (last === undefined || (hunk.ours > last.oursEnd && hunk.theirs > last.theirsEnd)) {
    hunks.push(hunk);
    return;
  }
  if (hunk.mode !== last.mode) last.mode = CONFLICT;
  last.baseEnd = hunk.baseEnd;
  last.oursEnd = hunk.oursEnd;
  last.theirsEnd = hunk.theirsEnd;
}

/** Reduces conflicts to the lines in which the sides differ. */
function refine(hunks: readonly Hunk[], a: Lines, b: Lines, algorithm: DiffAlgorithm): Hunk[] {
  return hunks.flatMap((hunk) => {
    if (hunk.mode !== CONFLICT || hunk.ours === hunk.oursEnd || hunk.theirs === hunk.theirsEnd) return [hunk];
    const ours = sliceLines(a, hunk.ours, hunk.oursEnd);
    const theirs = sliceLines(b, hunk.theirs, hunk.theirsEnd);
    const changes = compare(ours, theirs, algorithm);
    if (changes.length === 0) return [{ ...hunk, mode: SAME }];
    return changes.map((change) => ({
      ...hunk,
      ours: hunk.ours + change.aStart,
      oursEnd: hunk.ours + change.aEnd,
      theirs: hunk.theirs + change.bStart,
      theirsEnd: hunk.theirs + change.bEnd,
    }));
  });
}

function joinNear(hunks: readonly Hunk[], a: Lines, acrossPunctuation: boolean): Hunk[] {
  const joined: Hunk[] = [];
  for (const hunk of hunks) {
    const last = joined.at(-1);
    if (last?.mode !== CONFLICT || hunk.mode !== CONFLICT) {
      joined.push(hunk);
      continue;
    }
    const isNear = hunk.ours - last.oursEnd <= MAX_JOINED_LINES;
    if (!isNear && !(acrossPunctuation && !hasWords(a, last.oursEnd, hunk.ours))) joined.push(hunk);
    else {
      last.oursEnd = hunk.oursEnd;
      last.theirsEnd = hunk.theirsEnd;
    }
  }
  return joined;
}

function hasWords({ bytes, starts }: Lines, from: number, to: number): boolean {
  for (let at = starts[from] as number; at < (starts[to] as number); at++) {
    const byte = bytes[at] as number;
    if ((byte >= 48 && byte <= 57) || ((byte | 32) >= 97 && (byte | 32) <= 122)) return true;
  }
  return false;
}

const encoder = new TextEncoder();

function print(hunks: readonly Hunk[], o: Lines, a: Lines, b: Lines, options: MergeTextOptions): MergedText {
  const { favor, labels, markerSize = 7 } = options;
  const marker = (sign: string, label: string): string => `${sign.repeat(markerSize)} ${label}`;
  const parts: Uint8Array[] = [];
  let conflicts = 0;
  let at = 0;
  const modes = { ours: OURS, theirs: THEIRS, union: OURS | THEIRS };
  for (const hunk of hunks) {
    const mode = hunk.mode === CONFLICT && favor !== undefined ? modes[favor] : hunk.mode;
    if (mode === SAME) continue;
    parts.push(bytesOf(a, at, hunk.ours));
    const lineEnd = endsInCrLf(o, a, b, hunk) ? '\r\n' : '\n';
    const ours = bytesOf(a, hunk.ours, hunk.oursEnd);
    const theirs = bytesOf(b, hunk.theirs, hunk.theirsEnd);
    if (mode === CONFLICT) {
      conflicts += 1;
      parts.push(encoder.encode(marker('<', labels?.ours ?? 'ours') + lineEnd), completed(ours, lineEnd));
      parts.push(encoder.encode('='.repeat(markerSize) + lineEnd), completed(theirs, lineEnd));
      parts.push(encoder.encode(marker('>', labels?.theirs ?? 'theirs') + lineEnd));
    } else {
      if ((mode & OURS) !== 0) parts.push((mode & THEIRS) !== 0 ? completed(ours, lineEnd) : ours);
      if ((mode & THEIRS) !== 0) parts.push(theirs);
    }
    at = hunk.oursEnd;
  }
  parts.push(bytesOf(a, at, a.numbers.length));
  return { bytes: concat(parts), conflicts };
}

function bytesOf({ bytes, starts }: Lines, from: number, to: number): Uint8Array {
  return bytes.subarray(starts[from], starts[to]);
}

function completed(lines: Uint8Array, lineEnd: string): Uint8Array {
  return lines.length === 0 || lines.at(-1) === 10 ? lines : concat([lines, encoder.encode(lineEnd)]);
}

/**
 * Reports whether conflict markers end in CR LF. They do if the first line of the base does, unless the line before the
 * conflict (or the first line, if there is none before) ends in LF alone on one of the sides.
 */
function endsInCrLf(o: Lines, a: Lines, b: Lines, hunk: Hunk): boolean {
  if (isCrLf(a, Math.max(0, hunk.ours - 1)) === false || isCrLf(b, Math.max(0, hunk.theirs - 1)) === false)
    return false;
  return isCrLf(o, 0) === true;
}

/**
 * Reports whether a line ends in CR LF. A last line without a line end counts as the line before it; undefined if there
 * is none.
 */
function isCrLf({ bytes, starts }: Lines, line: number): boolean | undefined {
  const whole = bytes.at(-1) === 10 || line < starts.length - 2 ? line : line - 1;
  const end = starts[whole + 1];
  if (whole < 0 || end === undefined) return undefined;
  return end - (starts[whole] as number) > 1 && bytes[end - 2] === 13;
}
