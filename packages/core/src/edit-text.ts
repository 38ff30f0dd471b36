import { runSteps, type Steps } from './engine/scheduling/time-slice.js';
import { FsError, quote } from './errors.js';
import { findLiteral } from './search/find-literal.js';

/** Pieces joined per step. */
const JOIN_PIECES = 10_000;
const MAX_LINES_NAMED = 10;
const MAX_LINES_COMPARED = 20_000;
const MAX_UNITS_COMPARED = 200;

export interface ReplacedText {
  readonly text: string;
  /** Number of replacements. */
  readonly count: number;
}

/**
 * Replaces an exact piece of text: the only occurrence, or with `all` every one, from the start without overlap. The
 * replacement is literal: `$&` has no meaning. Linear in the text.
 *
 * @throws TypeError for values that are not strings
 * @throws FsError EINVAL if the piece is empty, not found (the message names a similar line, if there is one), or
 *     without `all` found more than once (the message names the first lines; overlapping occurrences count)
 */
export function replaceExact(text: string, search: string, replacement: string, all = false): ReplacedText {
  return runSteps(replacing(text, search, replacement, all));
}

/** Like {@link replaceExact}, in steps. Errors carry the path of the file that holds the text, if given. */
export function* replacing(
  text: string,
  search: string,
  replacement: string,
  all = false,
  path?: string,
): Steps<ReplacedText> {
  for (const [name, value] of Object.entries({ text, search, replacement })) {
    if (typeof value !== 'string') throw new TypeError(`The ${name} must be a string, not ${typeof value}`);
  }
  if (search === '') throw refuse('The text to replace must not be empty', path);
  const found = findLiteral(text, search);
  const first = found(0);
  yield;
  if (first < 0) throw refuse(missing(text, search), path);
  if (!all) {
    const second = found(first + 1);
    yield;
    if (second >= 0) throw refuse(ambiguous(text, first, second, found), path);
    return { text: text.slice(0, first) + replacement + text.slice(first + search.length), count: 1 };
  }
  const joined: string[] = [];
  let pieces: string[] = [];
  let end = 0;
  let count = 0;
  for (let at = first; at >= 0; at = found(end)) {
    pieces.push(text.slice(end, at));
    end = at + search.length;
    count++;
    if (pieces.length < JOIN_PIECES) continue;
    joined.push(pieces.join(replacement));
    pieces = [];
    yield;
  }
  pieces.push(text.slice(end));
  joined.push(pieces.join(replacement));
  return { text: joined.join(replacement), count };
}

function refuse(hint: string, path: string | undefined): FsError {
  return new FsError('EINVAL', { syscall: 'edit', path, hint });
}

function ambiguous(text: string, first: number, second: number, found: (from: number) => number): string {
  const lines: number[] = [];
  let line = 1;
  let counted = 0;
  let at = first;
  for (let next = second; at >= 0 && lines.length < MAX_LINES_NAMED; next = found(at + 1)) {
    for (let end = text.indexOf('\n', counted); end >= 0 && end < at; end = text.indexOf('\n', end + 1)) {
      line++;
      counted = end + 1;
    }
    lines.push(line);
    at = next;
  }
  const times = at < 0 ? `${lines.length} times` : `more than ${lines.length} times`;
  const named = [...new Set(lines)].join(', ');
  return `The text to replace occurs ${times}, starting on line ${named}. Give more of the text around it, or replace all`;
}

function missing(text: string, search: string): string {
  const start = 'The text to replace was not found.';
  if (text.includes('\r\n') && search.includes('\n') && !search.includes('\r')) {
    const same = findLiteral(text.replaceAll('\r\n', '\n'), search)(0) >= 0;
    if (same) return `${start} The lines of this file end with \\r\\n: write them so`;
  }
  const nearest = nearestLine(text, search);
  if (nearest === undefined) return `${start} It must match exactly, white space included: read the file first`;
  const shown = quote(nearest.line.trimEnd());
  if (nearest.score < 1) return `${start} The nearest line is ${nearest.number}: ${shown}`;
  return `${start} Its first line is like line ${nearest.number}, ${shown}: compare white space and the lines that follow`;
}

interface Nearest {
  readonly number: number;
  readonly line: string;
  /** 1 if the compared parts differ only in white space at their ends, smaller for less similar lines. */
  readonly score: number;
}

/**
 * Returns the line most similar to the first non-blank line of the search, or undefined if none is similar. Compares a
 * limited number of lines, only the start of long ones, and looks for a non-blank line in the search's first 100 lines.
 */
function nearestLine(text: string, search: string): Nearest | undefined {
  const wanted = cut(
    search
      .split('\n', 100)
      .find((line) => line.trim() !== '')
      ?.trim() ?? '',
  );
  if (wanted === '') return undefined;
  const pairs = pairsOf(wanted);
  let best: Nearest | undefined;
  let start = 0;
  for (let number = 1; number <= MAX_LINES_COMPARED && start < text.length; number++) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(start, Math.min(end, start + 2 * MAX_UNITS_COMPARED));
    const score = likeness(pairs, wanted, cut(line.trim()));
    if (score > (best?.score ?? 0.5)) best = { number, line, score };
    if (score === 1) break;
    start = end + 1;
  }
  return best;
}

/**
 * Returns 1 for equal lines, 0 for lines of very different lengths, otherwise the share of common pairs of neighbouring
 * UTF-16 units (Sørensen–Dice), at most 0.99.
 */
function likeness(pairs: ReadonlyMap<string, number>, wanted: string, line: string): number {
  if (line === wanted) return 1;
  if (line === '' || line.length > 3 * wanted.length || wanted.length > 3 * line.length) return 0;
  const left = new Map(pairs);
  let shared = 0;
  for (let i = 0; i + 1 < line.length; i++) {
    const pair = line.slice(i, i + 2);
    const count = left.get(pair) ?? 0;
    if (count === 0) continue;
    left.set(pair, count - 1);
    shared++;
  }
  return Math.min(0.99, (2 * shared) / Math.max(1, wanted.length + line.length - 2));
}

function pairsOf(line: string): Map<string, number> {
  const pairs = new Map<string, number>();
  for (let i = 0; i + 1 < line.length; i++) {
    const pair = line.slice(i, i + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

function cut(line: string): string {
  if (line.length <= MAX_UNITS_COMPARED) return line;
  return line.slice(0, MAX_UNITS_COMPARED).toWellFormed();
}
