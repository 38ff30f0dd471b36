import { describe, entriesOf } from './plain-data.js';

/** A part of a text file. Characters are Unicode code points, which are never split. */
export interface ReadResult {
  readonly content: string;
  /** True if the file continues after this part: read on at `offset + charsRead`. */
  readonly truncated: boolean;
  /** Characters of the whole file. */
  readonly totalChars: number;
  /** Start of this part, in characters. */
  readonly offset: number;
  readonly charsRead: number;
}

export interface ReadOptions {
  /** Maximal number of characters to return. Default 20,000. */
  readonly maxChars?: number | undefined;
  /** Characters to skip. Default 0; beyond the end the result is empty. */
  readonly offset?: number | undefined;
}

export interface Piece {
  readonly maxChars: number;
  readonly offset: number;
}

/**
 * @throws TypeError for wrong types and unknown options, RangeError for a number that is not a whole number of 0 or
 *   more
 */
export function checkPiece(options: ReadOptions | undefined): Piece {
  const given = new Map(options === undefined ? [] : entriesOf(options, 'options'));
  const number = (name: string, fallback: number): number => {
    const value = given.get(name) ?? fallback;
    given.delete(name);
    if (typeof value !== 'number') throw new TypeError(`${name} must be a number, not ${describe(value)}`);
    if (Number.isSafeInteger(value) && value >= 0) return value;
    throw new RangeError(`${name} must be a whole number from 0 on, not ${value}`);
  };
  const piece = { maxChars: number('maxChars', 20_000), offset: number('offset', 0) };
  given.delete('signal');
  for (const key of given.keys())
    throw new TypeError(`read has no option ${describe(key)}. It takes maxChars, offset, signal`);
  return piece;
}

/**
 * Returns a part of a text, as `read` does. For custom objects of the shape `FileSandbox`.
 *
 * @param piece maximum number of characters to return, default 20,000, and characters to skip, default 0
 * @throws TypeError, RangeError as `read`
 */
export function pieceOf(text: string, piece?: ReadOptions): ReadResult {
  const { maxChars, offset } = checkPiece(piece);
  const start = skip(text, 0, offset);
  const end = skip(text, start.at, maxChars);
  const rest = skip(text, end.at, Number.POSITIVE_INFINITY);
  return {
    content: text.slice(start.at, end.at),
    truncated: rest.count > 0,
    totalChars: start.count + end.count + rest.count,
    offset,
    charsRead: end.count,
  };
}

/** Skips code points. Returns the position reached and the number skipped. */
function skip(text: string, from: number, count: number): { readonly at: number; readonly count: number } {
  let at = from;
  let passed = 0;
  while (passed < count && at < text.length) {
    at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
    passed += 1;
  }
  return { at, count: passed };
}
