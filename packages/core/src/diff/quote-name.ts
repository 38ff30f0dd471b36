const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '"': '\\"', '\\': '\\\\' };
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters a line of a patch must not carry
const QUOTED = /[\u0000-\u001f\u007f"\\]/g;

/** Quotes a name in a form that git reads in a patch, if it contains ASCII control characters, `"` or `\`. */
export function quoteName(name: string): string {
  const quoted = name.replace(
    QUOTED,
    (unit) => ESCAPES[unit] ?? `\\${unit.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return quoted === name ? name : `"${quoted}"`;
}

/**
 * Returns the name, followed by a tab if it has a space and is not quoted: otherwise `patch` looks for a time after the
 * space.
 */
export function withTab(name: string): string {
  return name.includes(' ') && !name.startsWith('"') ? `${name}\t` : name;
}
