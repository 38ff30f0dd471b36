import { formatUnified } from '@scratchfs/core/diff';

/** Maximum length of the changed part that is compared, on both sides together, in UTF-16 code units. */
const MAX_COMPARED = 400_000;
/** Unchanged lines around a change. */
const CONTEXT = 3;

/**
 * Returns the change of a text as a unified diff, without the line `diff --git`. Only the part from the first to the
 * last difference is compared line by line. If that part is too large to compare, the result only says so.
 * @param maxLength maximum length; a longer diff is cut after a line, and a note says how many lines are left out
 */
export function changeDiff(path: string, before: string, after: string, maxLength: number): string {
  if (before === after) return '';
  const { start, endBefore, endAfter } = changedPart(before, after);
  if (endBefore + endAfter - 2 * start > MAX_COMPARED) return '[The change is too large to be shown as a diff.]';
  const file = { path, before: before.slice(start, endBefore), after: after.slice(start, endAfter) };
  const lines = formatUnified(file, { context: CONTEXT }).split('\n').slice(1, -1);
  const skipped = countLines(before, start);
  return cut(
    lines.map((line) => (line.startsWith('@@') ? shifted(line, skipped) : line)),
    maxLength,
  );
}

/** Adds lines that were left out to the numbers of a hunk. Both sides begin with the same lines. */
function shifted(hunk: string, lines: number): string {
  return hunk.replace(/([-+])(\d+)/g, (_, sign: string, number: string) => `${sign}${Number(number) + lines}`);
}

function cut(lines: readonly string[], maxLength: number): string {
  const shown: string[] = [];
  let length = 0;
  for (const line of lines) {
    length += line.length + 1;
    if (length > maxLength) {
      shown.push(`[${lines.length - shown.length} more lines of the diff]`);
      break;
    }
    shown.push(line);
  }
  return shown.join('\n');
}

interface ChangedPart {
  /** Start in both texts, at the start of a line. */
  readonly start: number;
  /** End in each text, after the end of a line or of the text. */
  readonly endBefore: number;
  readonly endAfter: number;
}

/** Returns whole lines that contain all differences and the lines of context around them. */
function changedPart(a: string, b: string): ChangedPart {
  const shorter = Math.min(a.length, b.length);
  const same = commonLength(shorter, (from, to) => a.slice(from, to) === b.slice(from, to));
  const sameAtEnd = commonLength(
    shorter - same,
    (from, to) => a.slice(a.length - to, a.length - from) === b.slice(b.length - to, b.length - from),
  );
  let start = same;
  for (let line = 0; line <= CONTEXT && start >= 0; line++) start = start === 0 ? -1 : a.lastIndexOf('\n', start - 1);
  let end = a.length - sameAtEnd;
  // One line more than the context, because the last difference may end before its line does.
  for (let line = 0; line <= CONTEXT && end < a.length; line++) {
    const newline = a.indexOf('\n', end);
    end = newline < 0 ? a.length : newline + 1;
  }
  return { start: start + 1, endBefore: end, endAfter: end + b.length - a.length };
}

const BLOCK = 65_536;

/** Returns the length of the part that is equal, at most `limit`, by comparing blocks and then bisecting. */
function commonLength(limit: number, isEqual: (from: number, to: number) => boolean): number {
  let at = 0;
  while (at < limit && isEqual(at, Math.min(at + BLOCK, limit))) at = Math.min(at + BLOCK, limit);
  let end = Math.min(at + BLOCK, limit);
  while (at < end) {
    const middle = Math.ceil((at + end) / 2);
    if (isEqual(at, middle)) at = middle;
    else end = middle - 1;
  }
  return at;
}

function countLines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
