/**
 * Characters that could move the cursor, change colours, reorder or hide text where it is shown, such as controls,
 * marks of direction, zero-width spaces, tags, and halves of surrogate pairs.
 */
export const UNSAFE_CHARACTERS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not be shown
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]|[\ud800-\udfff]/gu;

/** Returns a character as JavaScript escapes it. */
export function escapeCharacter(character: string): string {
  const point = (character.codePointAt(0) ?? 0).toString(16);
  return point.length > 4 ? `\\u{${point}}` : `\\u${point.padStart(4, '0')}`;
}

/**
 * Returns a name for a line of a list, unchanged if it is harmless. A name that has unsafe characters or begins with a
 * quotation mark becomes a JSON string, with these characters escaped: each name takes one line and is shown
 * completely.
 */
export function nameInList(name: string): string {
  if (name.search(UNSAFE_CHARACTERS) === -1 && !name.startsWith('"')) return name;
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(name).replace(UNSAFE_CHARACTERS, (character) => character.split('').map(escaped).join(''));
}
