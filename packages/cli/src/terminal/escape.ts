/**
 * Characters that could move the cursor, change colours, reorder or hide text on a terminal: controls, marks of
 * direction, zero-width characters, tags, and halves of surrogate pairs.
 */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters a terminal must not get
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]|[\ud800-\udfff]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e' };

function escaped(character: string): string {
  const short = SHORT[character];
  if (short !== undefined) return short;
  const point = (character.codePointAt(0) ?? 0).toString(16);
  return point.length > 4 ? `\\u{${point}}` : `\\u${point.padStart(4, '0')}`;
}

/** Returns a name or sentence for one line of a terminal; unsafe characters are escaped as in JavaScript. */
export function escapeText(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** Like {@link escapeText}, but line feeds and tabs of a content stay. */
export function escapeContent(text: string): string {
  return text.replace(UNSAFE, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  );
}
