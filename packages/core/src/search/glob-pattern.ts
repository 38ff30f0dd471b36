import { checkBoolean, checkOptions } from '../engine/arguments.js';
import { GlobAutomaton } from './glob-automaton.js';
import { literalText, parsePattern, type Token } from './glob-tokens.js';

export interface GlobOptions {
  /** Let wildcards match a leading dot of a name. Default false: only a dot in the pattern matches it. */
  readonly dot?: boolean | undefined;
}

/** A compiled pattern. Paths given to it are relative, without `.`, `..` and empty segments. */
export interface Glob {
  /** Leading literal directories of the pattern, joined by `/`; `''` if there are none. */
  readonly base: string;
  /**
   * Reports whether a path matches. `a/` and the empty tail of `a/**` match directories only; `isDirectory` defaults to
   * false.
   */
  matches(path: string, isDirectory?: boolean): boolean;
  /** Reports whether something under a directory may match, so that a walk has to enter it. `''` is the top. */
  mayMatchBelow(directory: string): boolean;
}

/**
 * Compiles a glob pattern: `*`, `?`, `[abc]`, `[a-z]`, `[!a]` or `[^a]`, `**` as a whole segment (any number of
 * segments), `{a,b}`, `{1..3}`, `{a..e}`, and bash's `@(a|b)` (one of them), `?(a|b)` (one or nothing), `*(a|b)` (any
 * number) and `+(a|b)` (one or more). There is no escape: `\` separates like `/`, and `[*]` is a literal star.
 *
 * Matching takes at most the length of the pattern times that of the path. bash's `!(a|b)` would take more and is
 * refused. `{a}`, an unpaired bracket, `!`, and `(` and `|` without one of the operators are literal; POSIX classes are
 * not supported. A pattern may have 4,096 characters, 1,000 alternatives in brackets and 32 nested brackets.
 *
 * @throws TypeError if the pattern is not a string or contains NUL, and for unknown options or wrong values
 * @throws RangeError for an empty pattern, one beyond a limit, one with `!(…)`, or `..` after a wildcard
 * @throws FsError EINVAL for ill-formed text
 */
export function compileGlob(pattern: string, options?: GlobOptions): Glob {
  const tokens = parsePattern(pattern);
  const { dot } = checkOptions(options, ['dot'], 'compileGlob');
  const automaton = new GlobAutomaton([tokens], checkBoolean(dot, 'dot'));
  return {
    base: literalBase(tokens),
    matches(path, isDirectory = false) {
      const state = path === '' ? undefined : automaton.read(automaton.start, path);
      return state !== undefined && automaton.accepts(state, isDirectory);
    },
    mayMatchBelow(directory) {
      const state = automaton.read(automaton.start, directory);
      return state !== undefined && (directory === '' || automaton.below(state) !== undefined);
    },
  };
}

/** Returns the literal segments at the start of a pattern, without its last segment, joined by `/`. */
export function literalBase(tokens: readonly Token[]): string {
  const end = tokens.findIndex((token) => token.kind !== 'character' && token.kind !== 'slash');
  const leading = end < 0 ? tokens : tokens.slice(0, end);
  const lastSlash = leading.findLastIndex((token) => token.kind === 'slash');
  const directories = leading.slice(0, Math.max(lastSlash, 0));
  return directories.map((token) => literalText([token]) ?? '/').join('');
}
