/** Matches a heading: `[section]`, `[section.sub]`, `[section "sub"]`. */
const HEADING = /\[([A-Za-z0-9.-]+)([ \t]+"(?:[^"\\\n]|\\[^\n])*")?[ \t]*\]/y;
const KEY = /([A-Za-z][A-Za-z0-9-]*)[ \t]*/y;
const REST_OF_LINE = /[^\n]*/y;
const BLANK = /[ \t\r\n]/;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '\n': '' };

/** A variable that a git configuration file sets, with its section. */
export interface ConfigEntry {
  /** In lower case. */
  readonly section: string;
  /** Text between the quotes, with escapes resolved. */
  readonly subsection: string | undefined;
  /** In lower case. */
  readonly key: string;
  readonly value: string;
}

/**
 * Returns the values of a git configuration file by `section.key` in lower case; of a repeated key, the last. Leaves
 * out subsections in quotes.
 */
export function parseConfig(written: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const { section, subsection, key, value } of configEntries(written)) {
    if (subsection === undefined) values.set(`${section}.${key}`, value);
  }
  return values;
}

/**
 * Yields the variables of a git configuration file, as git-config(1) describes it. Leaves out lines that it cannot
 * parse.
 */
export function* configEntries(written: string): Generator<ConfigEntry> {
  const text = written.replace(/\r\n/g, '\n');
  let heading: Pick<ConfigEntry, 'section' | 'subsection'> | undefined;
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return undefined;
    at = pattern.lastIndex;
    return found;
  };
  while (at < text.length) {
    if (BLANK.test(text[at] as string)) {
      at += 1;
      continue;
    }
    const found = take(HEADING);
    if (found !== undefined) {
      const [, section = '', subsection] = found;
      heading = { section: section.toLowerCase(), subsection: subsection && unquoted(subsection) };
      continue;
    }
    const key = take(KEY)?.[1]?.toLowerCase();
    if (key !== undefined && text[at] === '=') {
      const { value, end } = valueFrom(text, at + 1);
      at = end;
      if (heading !== undefined) yield { ...heading, key, value };
    } else if (key !== undefined && (at === text.length || text[at] === '\n')) {
      if (heading !== undefined) yield { ...heading, key, value: 'true' };
    } else take(REST_OF_LINE);
  }
}

/** Returns the name of a subsection, which is written with blanks before it, in quotes and with backslashes. */
function unquoted(written: string): string {
  return written.trim().slice(1, -1).replace(/\\(.)/g, '$1');
}

/** Reads a value without quotes, escapes, comment and surrounding blanks, and returns where its line ends. */
function valueFrom(text: string, start: number): { readonly value: string; readonly end: number } {
  let value = '';
  // Trailing blanks are not part of the value.
  let length = 0;
  let isQuoted = false;
  let isComment = false;
  let at = start;
  for (; at < text.length && text[at] !== '\n'; at++) {
    const unit = text[at] as string;
    if (isComment) continue;
    if (!isQuoted && (unit === '#' || unit === ';')) isComment = true;
    else if (unit === '"') isQuoted = !isQuoted;
    else if (!isQuoted && BLANK.test(unit)) value += value === '' ? '' : unit;
    else if (unit === '\\') {
      at += 1;
      value += ESCAPED[text[at] ?? ''] ?? text[at] ?? '';
      length = value.length;
    } else {
      value += unit;
      length = value.length;
    }
  }
  return { value: value.slice(0, length), end: at };
}
