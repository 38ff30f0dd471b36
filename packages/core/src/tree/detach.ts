// V8 copies substrings of up to 12 characters. A longer substring refers to the string from which it was cut.
const MAX_COPIED_LENGTH = 12;

/** Returns the same text as a flat string of its own, so that keeping it keeps nothing else alive. */
export function detach(text: string): string {
  return text.length <= MAX_COPIED_LENGTH ? text : [text.charAt(0), text.slice(1)].join('');
}
