import { InputError } from '../input.js';
import { MAX_RESULT_LENGTH } from '../pages.js';

/** Splits a text into lines without their line ends. A final newline does not add an empty line. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}

/**
 * Formats lines with their numbers, either all or a range `[first, last]`; a `last` of -1 means the end. If a further
 * line would make the text too long for a result, stops and says how to go on.
 * @throws InputError for an invalid range
 */
export function numbered(text: string, range: readonly number[] | undefined): string {
  const lines = linesOf(text);
  const [first, last] = range === undefined ? [1, lines.length] : checkRange(range, lines.length);
  const shown: string[] = [];
  let length = 0;
  for (let i = first; i <= last; i++) {
    const line = `${String(i).padStart(6)}\t${lines[i - 1]}`;
    length += line.length + 1;
    if (length > MAX_RESULT_LENGTH && shown.length > 0) {
      shown.push(`[Lines ${first} to ${i - 1} of ${lines.length}. To go on, view with view_range [${i}, -1].]`);
      break;
    }
    shown.push(line);
  }
  return shown.join('\n');
}

function checkRange(range: readonly number[], count: number): readonly [number, number] {
  const [first, last] = range;
  const isRange = range.length === 2 && Number.isInteger(first) && Number.isInteger(last);
  if (!isRange || (first as number) < 1 || ((last as number) !== -1 && (last as number) < (first as number))) {
    throw new InputError(
      'view_range must be two line numbers, the first from 1 on, the last not before it, or -1 for the end.',
    );
  }
  if ((first as number) > Math.max(count, 1))
    throw new InputError(`The file has ${count} lines: line ${first} is past its end.`);
  return [first as number, last === -1 ? count : Math.min(last as number, count)];
}

const MAX_NAMED_LINES = 10;

/**
 * Returns the numbers of the lines in which a piece of text begins, at most one more than {@link MAX_NAMED_LINES}. The
 * piece may span lines; overlapping occurrences count.
 */
export function placesOf(text: string, piece: string): number[] {
  const places: number[] = [];
  let line = 1;
  let counted = 0;
  for (let at = text.indexOf(piece); at >= 0 && places.length <= MAX_NAMED_LINES; at = text.indexOf(piece, at + 1)) {
    for (let end = text.indexOf('\n', counted); end >= 0 && end < at; end = text.indexOf('\n', counted)) {
      line += 1;
      counted = end + 1;
    }
    places.push(line);
  }
  return places;
}

/** Formats line numbers for a message, at most {@link MAX_NAMED_LINES} of them. */
export function placesText(places: readonly number[]): string {
  const shown = places.slice(0, MAX_NAMED_LINES).join(', ');
  return places.length > MAX_NAMED_LINES ? `${shown}, …` : shown;
}

/** Formats up to 41 numbered lines around a change. */
export function snippet(text: string, firstLine: number, lineCount: number): string {
  const lines = linesOf(text);
  const from = Math.max(1, firstLine - 2);
  const to = Math.min(lines.length, firstLine + lineCount + 1);
  return numbered(text, lines.length === 0 ? undefined : [from, Math.min(to, from + 40)]);
}

/**
 * Inserts a text after a line; 0 inserts before the first.
 * @throws InputError for a line that does not exist
 */
export function inserted(text: string, afterLine: number, piece: string): string {
  const count = linesOf(text).length;
  if (!Number.isInteger(afterLine) || afterLine < 0 || afterLine > count) {
    throw new InputError(`insert_line must be from 0 to ${count}, the number of lines, not ${afterLine}.`);
  }
  let at = 0;
  for (let line = 0; line < afterLine; line++) {
    const end = text.indexOf('\n', at);
    at = end < 0 ? text.length : end + 1;
  }
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const isOpen = at > 0 && text[at - 1] !== '\n';
  const needsEnd = !piece.endsWith('\n') && !(isOpen && at === text.length);
  return `${text.slice(0, at)}${isOpen ? eol : ''}${piece}${needsEnd ? eol : ''}${text.slice(at)}`;
}
