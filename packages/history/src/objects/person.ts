/** An author, committer or tagger. */
export interface Person {
  readonly name: string;
  readonly email: string;
}

export interface Signature extends Person {
  /** Epoch seconds. */
  readonly timestamp: number;
  /** Minutes by which local time is ahead of UTC: 120 is `+0200`. */
  readonly timezone: number;
}

/**
 * Encodes a signature as `git commit-tree` does: characters that are not allowed are left out. The email may be empty.
 *
 * @throws TypeError for a name of which nothing is left, and if name or email is not a string; RangeError for an
 *   invalid time or time zone
 */
export function encodeSignature({ name, email, timestamp, timezone }: Signature): string {
  if (!Number.isSafeInteger(timestamp) || timestamp < 0)
    throw new RangeError('timestamp must be whole seconds, 0 or more');
  if (!Number.isInteger(timezone) || Math.abs(timezone) >= 100 * 60)
    throw new RangeError('timezone must be whole minutes');
  const minutes = Math.abs(timezone);
  const cleanName = clean(name);
  if (cleanName === '') throw new TypeError('A name must hold more than spaces and punctuation');
  const digits = String(Math.floor(minutes / 60) * 100 + (minutes % 60)).padStart(4, '0');
  return `${cleanName} <${clean(email)}> ${timestamp} ${timezone < 0 ? '-' : '+'}${digits}`;
}

/** Applies git's rule (ident.c): removes certain characters at both ends, and `<`, `>`, line feeds and NUL anywhere. */
function clean(text: string): string {
  if (typeof text !== 'string') throw new TypeError('Name and email must be strings');
  let start = 0;
  let end = text.length;
  while (start < end && isCrud(text.charCodeAt(start))) start++;
  while (end > start && isCrud(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end).replace(/[<>\n\0]/g, '');
}

function isCrud(unit: number): boolean {
  return unit <= 32 || '.,:;<>"\\\''.includes(String.fromCharCode(unit));
}

/** Decodes a signature. Damaged dates are 0, as git shows them. */
export function decodeSignature(text: string): Signature {
  const open = text.indexOf('<');
  const close = text.lastIndexOf('>');
  if (open < 0 || close < open) return { name: text.trim(), email: '', timestamp: 0, timezone: 0 };
  const [, seconds = '0', sign = '+', hours = '0', minutes = '0'] =
    /^ (\d{1,15})(?: ([+-])(\d{1,2})(\d\d))?/.exec(text.slice(close + 1)) ?? [];
  const timezone = Number(hours) * 60 + Number(minutes);
  return {
    name: text.slice(0, open).trim(),
    email: text.slice(open + 1, close),
    timestamp: Number(seconds),
    timezone: sign === '-' ? -timezone : timezone,
  };
}
