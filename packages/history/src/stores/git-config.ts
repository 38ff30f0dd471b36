/**
 * The values of a git configuration file by `section.key` in lower case, as git-config(1) says they are written; of keys that
 * come again, the last. Subsections are left out, and so is a line that git would refuse.
 */
export function parseConfig(text: string): Map<string, string> {
  const values = new Map<string, string>();
  let section: string | undefined;
  // A line that ends in a backslash goes on in the next one.
  for (const raw of text.replace(/\r\n/g, '\n').replace(/\\\n/g, CONTINUED).split('\n')) {
    let line = raw.trimStart();
    const heading = /^\[([A-Za-z0-9.-]+)(\s+"(?:[^"\\]|\\.)*")?\]/.exec(line);
    if (heading !== null) {
      section = heading[2] === undefined ? (heading[1] as string).toLowerCase() : undefined;
      line = line.slice(heading[0].length).trimStart();
    }
    const [, key, value] = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=(.*))?$/.exec(line) ?? [];
    if (key !== undefined && section !== undefined)
      values.set(`${section}.${key.toLowerCase()}`, value === undefined ? 'true' : readValue(value));
  }
  return values;
}

/** Stands for a line end that was taken back; no file of settings holds NUL. */
const CONTINUED = '\0';
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b' };

/** Without quotes, escapes, the comment behind it, and the blanks around it. */
function readValue(written: string): string {
  let value = '';
  // Where the blanks that may be the last ones begin.
  let end = 0;
  let isQuoted = false;
  const text = written.replaceAll(CONTINUED, '').trimStart();
  for (let at = 0; at < text.length; at++) {
    const unit = text[at] as string;
    if (!isQuoted && (unit === '#' || unit === ';')) break;
    if (unit === '"') isQuoted = !isQuoted;
    else if (unit === '\\') {
      at += 1;
      value += ESCAPED[text[at] ?? ''] ?? text[at] ?? '';
    } else value += unit;
    if (isQuoted || !/\s/.test(unit)) end = value.length;
  }
  return value.slice(0, end);
}
