import { byteText, type Matcher, wildmatch } from './wildmatch.js';

/** A line of a `.gitignore` file. */
interface IgnoreRule {
  readonly matches: Matcher;
  readonly isException: boolean;
  /** True if the pattern has no slash except at its end: then it is compared with the last name of a path. */
  readonly isName: boolean;
}

/** The rules of one file for paths under its directory. */
export class IgnoreFile {
  /** The last rule of the file first, because the last one that matches decides. */
  readonly #rules: readonly IgnoreRule[];
  readonly #ignoreCase: boolean;

  /** @param text content of the file @param ignoreCase git's setting `core.ignoreCase` */
  constructor(text: string, ignoreCase = false) {
    this.#ignoreCase = ignoreCase;
    this.#rules = text
      .replace(/^\ufeff/, '')
      .split('\n')
      .map((line) => parseRule(line, ignoreCase))
      .filter((rule) => rule !== undefined)
      .reverse();
  }

  /**
   * Reports whether the rules ignore a directory; undefined if none of them matches.
   * @param path relative to the directory of the file, without a slash at its ends
   */
  ignoresDirectory(path: string): boolean | undefined {
    const text = this.#ignoreCase ? inLowerCase(byteText(path)) : byteText(path);
    const name = text.slice(text.lastIndexOf('/') + 1);
    const rule = this.#rules.find(({ matches, isName }) => matches(isName ? name : text));
    return rule === undefined ? undefined : !rule.isException;
  }
}

function parseRule(line: string, ignoreCase: boolean): IgnoreRule | undefined {
  if (line.startsWith('#')) return undefined;
  let pattern = trimEnd(line.endsWith('\r') ? line.slice(0, -1) : line);
  const isException = pattern.startsWith('!');
  if (isException) pattern = pattern.slice(1);
  // Only directories are compared, and for them the slash at the end makes no difference.
  if (pattern.endsWith('/')) pattern = pattern.slice(0, -1);
  if (pattern === '') return undefined;
  const isName = !pattern.includes('/');
  const bytes = ignoreCase ? inLowerCase(byteText(pattern)) : byteText(pattern);
  const matches = wildmatch(bytes.startsWith('/') ? bytes.slice(1) : bytes);
  return matches && { matches, isException, isName };
}

/** Changes ASCII letters to lower case, except one behind a backslash. */
function inLowerCase(text: string): string {
  return text.replace(/\\[\s\S]|[A-Z]/g, (found) => (found.length > 1 ? found : found.toLowerCase()));
}

/** Removes spaces at the end, except one behind a backslash. */
function trimEnd(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ' && !isEscaped(line, end - 1)) end--;
  return line.slice(0, end);
}

function isEscaped(line: string, at: number): boolean {
  let backslashes = 0;
  while (line[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}
