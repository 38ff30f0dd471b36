import { checkText } from '../paths.js';

/** Maximum UTF-16 units of one pattern. */
export const MAX_PATTERN_LENGTH = 4096;
/** Maximum number of alternatives in all brackets of one pattern; each number of `{1..9}` counts. */
export const MAX_ALTERNATIVES = 1000;
/** Maximum nesting depth of brackets that hold alternatives. */
export const MAX_BRACKET_DEPTH = 32;

/** A set of code points, as pairs of first and last. */
export interface CharacterClass {
  readonly negated: boolean;
  readonly ranges: readonly number[];
}

/**
 * A token of a pattern. `alternatives` and `repeat` hold whole sequences, so no token represents a bracket or what
 * separates alternatives. `repeat` matches `min` times or more, each time any of its branches.
 */
export type Token =
  | { readonly kind: 'character'; readonly codePoint: number }
  | { readonly kind: 'any' }
  | { readonly kind: 'class'; readonly set: CharacterClass }
  | { readonly kind: 'star' }
  | { readonly kind: 'globstar' }
  | { readonly kind: 'slash' }
  | { readonly kind: 'alternatives'; readonly branches: readonly (readonly Token[])[] }
  | { readonly kind: 'repeat'; readonly branches: readonly (readonly Token[])[]; readonly min: 0 | 1 };

type Simple = Exclude<Token, { branches: unknown }>;
type Pair = '{}' | '()';

/** A bracket, or what separates alternatives, with the tokens for which it stands if it is literal. */
interface Mark {
  readonly kind: 'open' | 'separator' | 'close';
  readonly pair: Pair;
  readonly literal: readonly Simple[];
  /** Character before a parenthesis that holds alternatives: `@`, `?`, `*`, `+` or `!`. */
  readonly operator?: string;
}
type Raw = Simple | Mark;

const SLASH: Token = { kind: 'slash' };
const MARKS: Readonly<Record<string, Pick<Mark, 'kind' | 'pair'>>> = {
  '{': { kind: 'open', pair: '{}' },
  ',': { kind: 'separator', pair: '{}' },
  '}': { kind: 'close', pair: '{}' },
  '(': { kind: 'open', pair: '()' },
  '|': { kind: 'separator', pair: '()' },
  ')': { kind: 'close', pair: '()' },
};

/**
 * Parses a glob pattern. `\` separates like `/`. Outside brackets, `.`, empty segments and a leading `/` are dropped, but
 * not a `/` at the end, and `..` removes a preceding literal segment. A relative pattern continues `directory`, whose
 * names are literal.
 * @throws TypeError if the pattern is not a string or contains NUL
 * @throws RangeError for an empty pattern, one beyond a limit, one with `!(…)`, and one with `..` after a wildcard
 * @throws FsError EINVAL for lone surrogates
 */
export function parsePattern(pattern: string, directory: readonly string[] = []): Token[] {
  checkText(pattern, 'pattern');
  if (pattern === '') throw new RangeError('A pattern must not be empty');
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new RangeError(`A pattern may have ${MAX_PATTERN_LENGTH} characters, not ${pattern.length}`);
  }
  const tokens = nest(scan(pattern.replaceAll('\\', '/')));
  return tidySegments(tokens, tokens[0]?.kind === 'slash' ? [] : directory);
}

function scan(text: string): Raw[] {
  const tokens: Raw[] = [];
  for (let i = 0; i < text.length; ) {
    const codePoint = text.codePointAt(i) as number;
    const character = String.fromCodePoint(codePoint);
    i += character.length;
    if (text[i] === '(' && '@?*+!'.includes(character)) {
      i += 1;
      const [before] = scan(character) as Simple[];
      tokens.push({ ...(MARKS['('] as Mark), literal: [before as Simple, ...literal('(')], operator: character });
    } else if (character === '/') tokens.push({ kind: 'slash' });
    else if (character === '?') tokens.push({ kind: 'any' });
    else if (Object.hasOwn(MARKS, character))
      tokens.push({ ...(MARKS[character] as Mark), literal: literal(character) });
    else if (character === '*') {
      const start = i - 1;
      while (text[i] === '*' && text[i + 1] !== '(') i++;
      tokens.push({ kind: i - start === 2 ? 'globstar' : 'star' });
    } else if (character === '[') {
      const end = classEnd(text, i);
      if (end < 0) tokens.push({ kind: 'character', codePoint });
      else {
        tokens.push({ kind: 'class', set: parseClass(text.slice(i, end)) });
        i = end + 1;
      }
    } else tokens.push({ kind: 'character', codePoint });
  }
  return tokens;
}

/**
 * Returns the index of the `]` that ends a class whose content starts at `start`, or -1 if none comes before the next
 * `/`.
 */
function classEnd(text: string, start: number): number {
  const first = text[start] === '!' || text[start] === '^' ? start + 1 : start;
  const end = text.indexOf(']', first + 1);
  if (end < 0) return -1;
  const slash = text.indexOf('/', start);
  return slash >= 0 && slash < end ? -1 : end;
}

function parseClass(content: string): CharacterClass {
  const negated = content[0] === '!' || content[0] === '^';
  const points = Array.from(negated ? content.slice(1) : content, (character) => character.codePointAt(0) as number);
  const ranges: number[] = [];
  for (let i = 0; i < points.length; i++) {
    const first = points[i] as number;
    const last = points[i + 1] === 0x2d ? points[i + 2] : undefined;
    if (last === undefined) ranges.push(first, first);
    else {
      ranges.push(first, last);
      i += 2;
    }
  }
  return { negated, ranges };
}

/** A bracket that is not closed yet. */
interface Open {
  readonly at: number;
  readonly pair: Pair;
  readonly separators: number[];
}

/** The end of a bracket, and what separates its alternatives. */
interface Role {
  readonly end: number;
  readonly separators: readonly number[];
}

/** Pairs the brackets. A bracket that is still open when one around it is closed has no partner. */
function pairs(raw: readonly Raw[]): ReadonlyMap<number, Role> {
  const roles = new Map<number, Role>();
  /** All open brackets, and those of each pair. */
  const open: Open[] = [];
  const openOf: Record<Pair, Open[]> = { '{}': [], '()': [] };
  raw.forEach((token, at) => {
    if (!('pair' in token)) return;
    const same = openOf[token.pair];
    if (token.kind === 'open') {
      const opened = { at, pair: token.pair, separators: [] };
      open.push(opened);
      same.push(opened);
    } else if (token.kind === 'separator') same.at(-1)?.separators.push(at);
    else if (same.length > 0) {
      let last: Open;
      do {
        last = open.pop() as Open;
        openOf[last.pair].pop();
      } while (last.pair !== token.pair);
      roles.set(last.at, { end: at, separators: last.separators });
      // Separators inside this bracket do not belong to the brackets around it.
      for (const { separators } of [openOf['{}'].at(-1), openOf['()'].at(-1)].filter((around) => around !== undefined))
        while ((separators.at(-1) ?? -1) > last.at) separators.pop();
    }
  });
  return roles;
}

/** Builds alternatives and repetitions from brackets. A bracket, comma or bar that belongs to none is literal. */
function nest(raw: readonly Raw[]): Token[] {
  const roles = pairs(raw);
  let alternatives = 0;
  const count = (more: number): void => {
    alternatives += more;
    if (alternatives > MAX_ALTERNATIVES) {
      throw new RangeError(`A pattern may have ${MAX_ALTERNATIVES} alternatives in its brackets`);
    }
  };
  const bracket = (
    at: number,
    { operator }: Mark,
    { end, separators }: Role,
    depth: number,
    repeats: boolean,
  ): Token => {
    count(separators.length + 1);
    const bounds = [at, ...separators, end];
    const isRepeat = operator === '*' || operator === '+';
    const branches = bounds
      .slice(1)
      .map((to, n) => build((bounds[n] as number) + 1, to, depth + 1, repeats || isRepeat));
    if (isRepeat) return { kind: 'repeat', branches, min: operator === '+' ? 1 : 0 };
    return { kind: 'alternatives', branches: operator === '?' ? [...branches, []] : branches };
  };
  const build = (start: number, end: number, depth: number, repeats: boolean): Token[] => {
    if (depth > MAX_BRACKET_DEPTH)
      throw new RangeError(`A pattern may have ${MAX_BRACKET_DEPTH} brackets within each other`);
    const tokens: Token[] = [];
    for (let i = start; i < end; i++) {
      const token = raw[i] as Raw;
      if (!('pair' in token)) {
        // The end of a repeated branch is not the end of a segment.
        tokens.push(repeats && token.kind === 'globstar' ? { kind: 'star' } : token);
        continue;
      }
      const role = roles.get(i);
      const isBrace = token.pair === '{}';
      const range =
        role && isBrace && role.separators.length === 0
          ? expandRange(plainText(raw, i + 1, role.end), count)
          : undefined;
      if (role && range) tokens.push({ kind: 'alternatives', branches: range.map(literal) });
      else if (role && (isBrace ? role.separators.length > 0 : token.operator !== undefined)) {
        if (token.operator === '!')
          throw new RangeError(
            'A pattern must not contain !(…), which takes more than linear time: use `exclude`, or [!…] for one character',
          );
        tokens.push(bracket(i, token, role, depth, repeats));
      } else {
        tokens.push(...token.literal);
        continue;
      }
      i = role.end;
    }
    return tokens;
  };
  return build(0, raw.length, 0, false);
}

const MAX_RANGE_LENGTH = 40;

function plainText(raw: readonly Raw[], start: number, end: number): string {
  let text = '';
  for (let i = start; i < end; i++) {
    const token = raw[i] as Raw;
    if (token.kind !== 'character' || i - start > MAX_RANGE_LENGTH) return '';
    text += String.fromCodePoint(token.codePoint);
  }
  return text;
}

function literal(text: string): Extract<Token, { kind: 'character' }>[] {
  return Array.from(text, (character) => ({ kind: 'character', codePoint: character.codePointAt(0) as number }));
}

const RANGE = /^(?:(-?\d{1,15})\.\.(-?\d{1,15})|([a-z])\.\.([a-z])|([A-Z])\.\.([A-Z]))(?:\.\.(-?\d{1,15}))?$/;

/** Expands `1..3`, `01..10`, `a..e`, `1..9..2` as bash does; returns undefined for other text. */
function expandRange(text: string, count: (more: number) => void): string[] | undefined {
  const match = RANGE.exec(text);
  if (!match) return undefined;
  const from = (match[1] ?? match[3] ?? match[5]) as string;
  const to = (match[2] ?? match[4] ?? match[6]) as string;
  const numeric = match[1] !== undefined;
  const [a, b] = numeric ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)];
  const step = Math.max(1, Math.abs(Number(match[7] ?? 1))) * (a <= b ? 1 : -1);
  const length = Math.floor((b - a) / step) + 1;
  count(length);
  const padded = numeric && [from, to].some((end) => /^-?0\d/.test(end));
  const width = padded ? Math.max(from.length, to.length) : 0;
  return Array.from({ length }, (_, n) => {
    const value = a + n * step;
    if (!numeric) return String.fromCharCode(value);
    const digits = String(Math.abs(value));
    return value < 0 ? `-${digits.padStart(width - 1, '0')}` : digits.padStart(width, '0');
  });
}

/** Outside brackets: drops `.` and empty segments, resolves `..`, and joins adjacent globstars. */
function tidySegments(tokens: readonly Token[], directory: readonly string[]): Token[] {
  const segments: Token[][] = [[]];
  for (const token of tokens) {
    if (token.kind === 'slash') segments.push([]);
    else segments.at(-1)?.push(token);
  }
  const kept: Token[][] = directory.map(literal);
  for (const segment of segments) {
    const text = literalText(segment);
    if (text === '' || text === '.') continue;
    if (isGlobstar(segment) && isGlobstar(kept.at(-1))) continue;
    if (text !== '..') kept.push(segment);
    else if (kept.pop()?.some((token) => token.kind !== 'character')) {
      throw new RangeError('A pattern must not go up by .. after a wildcard');
    }
  }
  const tidy = kept.flatMap((segment, n) => (n === 0 ? segment : [SLASH, ...segment]));
  const last = literalText(segments.at(-1) as Token[]) ?? 'a wildcard';
  return kept.length > 0 && ['', '.', '..'].includes(last) ? [...tidy, SLASH] : tidy;
}

function isGlobstar(segment: readonly Token[] | undefined): boolean {
  return segment?.length === 1 && segment[0]?.kind === 'globstar';
}

/** Returns the text of tokens that are all characters, else undefined. */
export function literalText(tokens: readonly Token[]): string | undefined {
  let text = '';
  for (const token of tokens) {
    if (token.kind !== 'character') return undefined;
    text += String.fromCodePoint(token.codePoint);
  }
  return text;
}
