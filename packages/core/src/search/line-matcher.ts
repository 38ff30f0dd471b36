import { checkBoolean, checkOptions } from '../engine/arguments.js';
import { findLiteral } from './find-literal.js';

/** A piece of a line, in UTF-16 units from its start. */
export interface MatchRange {
  readonly start: number;
  readonly end: number;
}

/**
 * A custom matcher of lines. It gets each line without its end. If the pattern comes from a model, it must run in
 * linear time, as re2js does:
 *
 *       { find: (line) => (pattern.matcher(line).find() ? [{ start: 0, end: line.length }] : null) }
 */
export interface LineMatcher {
  /** Returns the matching pieces in order and without overlap; null or an empty list if the line does not match. */
  find(line: string): readonly MatchRange[] | null;
}

export interface MatcherOptions {
  /** Ignore case. For literal text only. Default false. */
  readonly ignoreCase?: boolean | undefined;
}

/** A literal query, folded if case is ignored. */
export interface LiteralQuery {
  readonly kind: 'literal';
  readonly text: string;
  readonly fold: (text: string) => string;
}

export type Query = LiteralQuery | { readonly kind: 'matcher'; readonly matcher: LineMatcher };

const MAX_QUERY_LENGTH = 4096;
const MAX_REPORTED_RANGES = 1000;

/**
 * Parses a query.
 * @throws TypeError if it is neither text nor a matcher (a RegExp is refused), and for `ignoreCase` with a matcher
 * @throws RangeError for text that is empty, has a line break or more than 4,096 characters
 */
export function parseQuery(query: string | LineMatcher, ignoreCase = false): Query {
  if (typeof query === 'string') {
    if (query === '') throw new RangeError('The text to search for must not be empty');
    if (query.length > MAX_QUERY_LENGTH) {
      throw new RangeError(`The text to search for may have ${MAX_QUERY_LENGTH} characters, not ${query.length}`);
    }
    if (/[\r\n]/.test(query))
      throw new RangeError('The text to search for must not have a line break: lines are searched');
    const fold = ignoreCase ? foldCase : asItIs;
    return { kind: 'literal', text: fold(query), fold };
  }
  if (Object.prototype.toString.call(query) === '[object RegExp]') {
    throw new TypeError(
      'A RegExp may take exponential time and is not taken. Give literal text, or an object with find(line) around a linear-time engine such as re2js',
    );
  }
  if (typeof query !== 'object' || query === null || Array.isArray(query) || typeof query.find !== 'function') {
    throw new TypeError('The query must be text or an object with find(line)');
  }
  if (ignoreCase) throw new TypeError('ignoreCase is for literal text: a matcher decides on case itself');
  return { kind: 'matcher', matcher: query };
}

/**
 * Creates a matcher of lines from literal text, or one that checks what a custom matcher returns.
 * @throws TypeError, RangeError as {@link parseQuery}
 */
export function createMatcher(query: string | LineMatcher, options?: MatcherOptions): LineMatcher {
  const { ignoreCase } = checkOptions(options, ['ignoreCase'], 'createMatcher');
  const parsed = parseQuery(query, checkBoolean(ignoreCase, 'ignoreCase'));
  return { find: (line) => rangesIn(line, parsed) };
}

/** Returns the matching pieces of a line, at most 1,000, or null. */
export function rangesIn(line: string, query: Query): readonly MatchRange[] | null {
  if (query.kind === 'matcher') return checkRanges(query.matcher.find(line), line);
  const found = findLiteral(query.fold(line), query.text);
  const ranges: MatchRange[] = [];
  for (let at = found(0); at >= 0 && ranges.length < MAX_REPORTED_RANGES; at = found(at + query.text.length)) {
    ranges.push({ start: at, end: at + query.text.length });
  }
  return ranges.length === 0 ? null : ranges;
}

function checkRanges(ranges: readonly MatchRange[] | null, line: string): readonly MatchRange[] | null {
  if (ranges === null || ranges === undefined) return null;
  if (!Array.isArray(ranges)) throw new TypeError('find(line) must return an array of { start, end }, or null');
  const checked = ranges.slice(0, MAX_REPORTED_RANGES).map(({ start, end }: MatchRange) => {
    if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || end < start || end > line.length) {
      throw new TypeError(`find(line) must return positions within the line, not ${start} to ${end}`);
    }
    return { start, end };
  });
  return checked.length === 0 ? null : checked;
}

/**
 * Lower-cases without changing the length, so that positions stay valid. İ, whose lower case is longer, becomes `i`. A
 * final sigma becomes an ordinary one.
 */
function foldCase(text: string): string {
  const lower = text.toLowerCase();
  const same = lower.length === text.length ? lower : text.replaceAll('\u0130', 'i').toLowerCase();
  return same.includes('\u03c2') ? same.replaceAll('\u03c2', '\u03c3') : same;
}

function asItIs(text: string): string {
  return text;
}
