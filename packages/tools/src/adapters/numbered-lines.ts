import { InputError } from '../input.js';
import { MAX_RESULT_LENGTH } from '../pages.js';

/** The lines of a text without their ends; a final newline adds none. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}

/**
 * Lines with their numbers, of the whole text or of a range from a line to another one (-1: to the end).
 * @throws InputError for a range that is none
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

/** The line numbers at which a piece of text begins, over several lines or twice in one, overlaps included. */
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

/** Line numbers for a message: the first ones of many. */
export function placesText(places: readonly number[]): string {
  const shown = places.slice(0, MAX_NAMED_LINES).join(', ');
  return places.length > MAX_NAMED_LINES ? `${shown}, …` : shown;
}

/** A few lines around a change, numbered. */
export function snippet(text: string, firstLine: number, lineCount: number): string {
  const lines = linesOf(text);
  const from = Math.max(1, firstLine - 2);
  const to = Math.min(lines.length, firstLine + lineCount + 1);
  return numbered(text, lines.length === 0 ? undefined : [from, Math.min(to, from + 40)]);
}

/**
 * A text with lines put in after one of its lines; 0 puts them first.
 * @throws InputError for a line that is not there
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
