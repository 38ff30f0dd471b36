import { quote } from '@scratchfs/core';
import type { LineMatcher, MatchRange } from '@scratchfs/core/search';
import { RE2JS, RE2JSException } from 're2js';
import { InputError } from './input.js';

const MAX_PATTERN_LENGTH = 500;
/** Maximum size of a compiled expression. */
const MAX_INSTRUCTIONS = 2000;
/** Maximum of instructions times characters for one line, which is searched without a pause: some 15 ms. */
const MAX_LINE_STEPS = 300_000;
/** Maximum of instructions times characters for a whole search: some 10 s. */
const MAX_SEARCH_STEPS = 300_000_000;

/**
 * A matcher that takes linear time for any expression. It searches only the beginning of long lines, so its time is
 * bounded.
 */
export interface LinearMatcher extends LineMatcher {
  /** Number of characters of a line that are searched. */
  readonly maxLine: number;
  /** True if a line was longer than `maxLine`. */
  readonly hasCut: boolean;
  /**
   * True if the search took too many steps, and `find` threw an error. Matches found before are valid. Look here
   * instead of at the error, which a sandbox may have replaced.
   */
  readonly isStopped: boolean;
}

/**
 * Returns the only text that an expression matches, such as `f(` for `f\(`, because a text is searched much faster.
 * Undefined if the expression is not known to match a single text.
 */
export function plainTextOf(pattern: string): string | undefined {
  const isPlain =
    pattern.length <= MAX_PATTERN_LENGTH && /^([^\\^$.|?*+()[\]{}\r\n]|\\[!-/:-@[-^`{-~])+$/.test(pattern);
  return isPlain ? pattern.replace(/\\(.)/g, '$1') : undefined;
}

/**
 * Compiles an expression in RE2's syntax, which has neither look-around nor back-references.
 * @throws InputError if the expression is invalid or too large
 */
export function linearMatcher(pattern: string, ignoreCase: boolean): LinearMatcher {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new InputError(`pattern must have at most ${MAX_PATTERN_LENGTH} characters, not ${pattern.length}.`);
  }
  const expression = compile(pattern, ignoreCase);
  const size = expression.programSize();
  if (size > MAX_INSTRUCTIONS)
    throw new InputError(`The pattern ${quote(pattern)} is too large: use smaller repetitions.`);
  const maxLine = Math.floor(MAX_LINE_STEPS / size);
  let work = 0;
  let hasCut = false;
  let isStopped = false;
  return {
    maxLine,
    get hasCut() {
      return hasCut;
    },
    get isStopped() {
      return isStopped;
    },
    find(line): readonly MatchRange[] | null {
      const seen = line.length > maxLine ? line.slice(0, maxLine) : line;
      hasCut ||= seen !== line;
      work += (seen.length + 1) * size;
      isStopped = work > MAX_SEARCH_STEPS;
      if (isStopped) throw new Error('The search was stopped: it has looked at too much text');
      const matcher = expression.matcher(seen);
      return matcher.find() ? [{ start: matcher.start(), end: matcher.end() }] : null;
    },
  };
}

function compile(pattern: string, ignoreCase: boolean): RE2JS {
  try {
    return RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const advice =
      'Look-around and back-references are not known here. To search for the text as it is, set literal to true.';
    throw new InputError(`The pattern is no regular expression: ${quote(error.message)}. ${advice}`);
  }
}
