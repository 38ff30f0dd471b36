import { MAX_RESULT_LENGTH } from './pages.js';

/** Length beyond which a line is cut, in UTF-16 code units. */
const MAX_LINE_LENGTH = 2_000;

export interface LineRange {
  /** Number of the first line, from 1 on. */
  readonly first: number;
  /** Maximum number of lines. */
  readonly limit: number;
  /** Maximum length of the result, in UTF-16 code units. The first line is returned even if it is longer. */
  readonly maxLength: number;
}

export interface LinePage {
  /** Lines with their numbers, in the form of `cat -n`: right-aligned, then a tab. Empty if there are none. */
  readonly text: string;
  /** Number of the last line returned; less than `first` if there is none. */
  readonly last: number;
  readonly total: number;
  /** True if one of the lines that were looked at ends with `\r\n`. */
  readonly hasCarriageReturns: boolean;
}

/**
 * Formats lines of a text with their numbers. A line that is too long is cut, and says at which code point of the text
 * it goes on. Line numbers have one width for the whole text.
 */
export function pageOfLines(text: string, { first, limit, maxLength }: LineRange): LinePage {
  const total = countLines(text);
  const width = Math.max(6, String(total).length);
  const bound = Math.min(maxLength, MAX_RESULT_LENGTH);
  const shown: string[] = [];
  let length = 0;
  let hasCarriageReturns = false;
  let number = first;
  for (let at = startOfLine(text, first); number <= total && shown.length < limit; number++) {
    const newline = text.indexOf('\n', at);
    const next = newline < 0 ? text.length : newline + 1;
    const isReturn = newline > at && text[newline - 1] === '\r';
    hasCarriageReturns ||= isReturn;
    const end = newline < 0 ? text.length : newline - (isReturn ? 1 : 0);
    const line = `${String(number).padStart(width)}\t${cut(text, at, end)}`;
    length += line.length + 1;
    if (length > bound && shown.length > 0) break;
    shown.push(line);
    at = next;
  }
  return { text: shown.join('\n'), last: first + shown.length - 1, total, hasCarriageReturns };
}

/** Counts lines. A final newline does not begin another line. */
function countLines(text: string): number {
  let count = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function startOfLine(text: string, number: number): number {
  let at = 0;
  for (let line = 1; line < number; line++) {
    const newline = text.indexOf('\n', at);
    if (newline < 0) return text.length;
    at = newline + 1;
  }
  return at;
}

function cut(text: string, start: number, end: number): string {
  if (end - start <= MAX_LINE_LENGTH) return text.slice(start, end);
  const isPair = (text.codePointAt(start + MAX_LINE_LENGTH - 1) as number) > 0xffff;
  const at = start + MAX_LINE_LENGTH - (isPair ? 1 : 0);
  return `${text.slice(start, at)}… [${end - at} more characters in this line, from char_offset ${codePoints(text, at)} on]`;
}

/** Counts the code points before a position, without an array of them. */
function codePoints(text: string, end: number): number {
  let count = end;
  for (let at = 0; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) count--;
  }
  return count;
}
