import { checkText } from '../paths.js';

/** Maximum UTF-16 units of one pattern. */
export const MAX_PATTERN_LENGTH = 4096;
/** Maximum number of alternatives in all braces of one pattern; each number of `{1..9}` counts. */
export const MAX_ALTERNATIVES = 1000;
/** Maximum nesting depth of braces. */
export const MAX_BRACE_DEPTH = 32;

/** A set of code points, as pairs of first and last. */
export interface CharacterClass {
  readonly negated: boolean;
  readonly ranges: readonly number[];
}

/** A token of a pattern. `alternatives` holds whole sequences, so no token represents a brace or a comma. */
export type Token =
  | { readonly kind: 'character'; readonly codePoint: number }
  | { readonly kind: 'any' }
  | { readonly kind: 'class'; readonly set: CharacterClass }
  | { readonly kind: 'star' }
  | { readonly kind: 'globstar' }
  | { readonly kind: 'slash' }
  | { readonly kind: 'alternatives'; readonly branches: readonly (readonly Token[])[] };

type Mark = { readonly kind: 'open' } | { readonly kind: 'comma' } | { readonly kind: 'close' };
type Raw = Exclude<Token, { kind: 'alternatives' }> | Mark;

const SLASH: Token = { kind: 'slash' };
const OPEN = '{'.codePointAt(0) as number;
const COMMA = ','.codePointAt(0) as number;
const CLOSE = '}'.codePointAt(0) as number;

/**
 * Parses a glob pattern. `\` separates like `/`; `.`, empty segments and a leading `/` are dropped; `..` removes a
 * preceding literal segment. A relative pattern continues `directory`, whose names are literal.
 * @throws TypeError if the pattern is not a string or contains NUL
 * @throws RangeError for an empty pattern, one beyond a limit, and one with `..` after a wildcard
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
    if (character === '/') tokens.push({ kind: 'slash' });
    else if (character === '?') tokens.push({ kind: 'any' });
    else if (character === '{') tokens.push({ kind: 'open' });
    else if (character === ',') tokens.push({ kind: 'comma' });
    else if (character === '}') tokens.push({ kind: 'close' });
    else if (character === '*') {
      const start = i - 1;
      while (text[i] === '*') i++;
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

interface Brace {
  readonly at: number;
  readonly commas: number[];
}

/** Pairs the braces that hold alternatives or a range; every other brace and comma is literal. */
function nest(raw: readonly Raw[]): Token[] {
  const roles = new Map<number, { readonly end: number; readonly commas: readonly number[] }>();
  const open: Brace[] = [];
  raw.forEach((token, at) => {
    if (token.kind === 'open') open.push({ at, commas: [] });
    else if (token.kind === 'comma') open.at(-1)?.commas.push(at);
    else if (token.kind === 'close') {
      const brace = open.pop();
      if (brace) roles.set(brace.at, { end: at, commas: brace.commas });
    }
  });
  let alternatives = 0;
  const count = (more: number): void => {
    alternatives += more;
    if (alternatives > MAX_ALTERNATIVES) {
      throw new RangeError(`A pattern may have ${MAX_ALTERNATIVES} alternatives in its braces`);
    }
  };
  const build = (start: number, end: number, depth: number): Token[] => {
    if (depth > MAX_BRACE_DEPTH) throw new RangeError(`A pattern may have ${MAX_BRACE_DEPTH} braces within each other`);
    const tokens: Token[] = [];
    for (let i = start; i < end; i++) {
      const token = raw[i] as Raw;
      if (token.kind === 'comma') tokens.push({ kind: 'character', codePoint: COMMA });
      else if (token.kind === 'close') tokens.push({ kind: 'character', codePoint: CLOSE });
      else if (token.kind === 'open') {
        const role = roles.get(i);
        const range =
          role && role.commas.length === 0 ? expandRange(plainText(raw, i + 1, role.end), count) : undefined;
        if (role && range) {
          tokens.push({ kind: 'alternatives', branches: range.map(literal) });
          i = role.end;
        } else if (role && role.commas.length > 0) {
          count(role.commas.length + 1);
          const bounds = [i, ...role.commas, role.end];
          const branches = bounds.slice(1).map((to, n) => build((bounds[n] as number) + 1, to, depth + 1));
          tokens.push({ kind: 'alternatives', branches });
          i = role.end;
        } else tokens.push({ kind: 'character', codePoint: OPEN });
      } else tokens.push(token);
    }
    return tokens;
  };
  return build(0, raw.length, 0);
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

function literal(text: string): Token[] {
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

/** Applies the path rules to the segments outside braces. */
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
