import { escapeCharacter, UNSAFE_CHARACTERS } from '@scratchfs/core/internal';

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e' };

function escaped(character: string): string {
  return SHORT[character] ?? escapeCharacter(character);
}

/** Returns a text as one line for a terminal: unsafe characters are escaped, such as `\n`, `\e` and `\u202e`. */
export function escapeText(text: string): string {
  return text.replace(UNSAFE_CHARACTERS, escaped);
}

/** Like {@link escapeText}, but line feeds and tabs stay as they are. */
export function escapeContent(text: string): string {
  return text.replace(UNSAFE_CHARACTERS, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  );
}
