/** The values of a git configuration file by `section.key` in lower case; of keys that come again, the last. Subsections are left out. */
export function parseConfig(text: string): Map<string, string> {
  const values = new Map<string, string>();
  let section: string | undefined;
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const heading = /^\[([A-Za-z0-9.-]+)(\s+".*")?\]$/.exec(line);
    if (heading !== null) {
      section = heading[2] === undefined ? (heading[1] as string).toLowerCase() : undefined;
      continue;
    }
    const [, key, value = 'true'] = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*?)\s*)?$/.exec(line) ?? [];
    if (key !== undefined && section !== undefined) values.set(`${section}.${key.toLowerCase()}`, value);
  }
  return values;
}
