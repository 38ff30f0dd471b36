import { HistoryError } from './errors.js';

declare const brand: unique symbol;

/** The hash of a git object in lower-case hexadecimal: 40 digits for SHA-1, 64 for SHA-256. */
export type ObjectId = string & { readonly [brand]: 'ObjectId' };

/** The hash function of a repository. */
export type ObjectFormat = 'sha1' | 'sha256';

export const ID_BYTES = { sha1: 20, sha256: 32 } as const satisfies Record<ObjectFormat, number>;

const FULL = { sha1: /^[0-9a-f]{40}$/, sha256: /^[0-9a-f]{64}$/ };

export function isObjectId(text: string, format: ObjectFormat): text is ObjectId {
  return FULL[format].test(text);
}

/** @throws HistoryError `not-found` for text that is not an id of this format; TypeError for anything but text */
export function objectId(text: string, format: ObjectFormat): ObjectId {
  if (typeof text !== 'string') throw new TypeError('An object id is a string of hexadecimal digits');
  if (!isObjectId(text, format))
    throw new HistoryError('not-found', `Not the id of an object: ${JSON.stringify(text.slice(0, 80))}`, { id: text });
  return text;
}

/**
 * Values of the pairs of hexadecimal digits. The index of a pair is 128 times the code of its first character plus the
 * code of the second.
 */
const BYTES = new Uint8Array(128 * 128);
for (let byte = 0; byte < 256; byte++) {
  const [high, low] = byte.toString(16).padStart(2, '0');
  BYTES[((high as string).charCodeAt(0) << 7) | (low as string).charCodeAt(0)] = byte;
}

/**
 * Character codes of the digits, and arrays to reuse for the codes of an id. Converting all digits in one call is three
 * times as fast as joining strings.
 */
const CODES = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
const UNITS: Readonly<Record<number, number[]>> = { 20: new Array(40).fill(0), 32: new Array(64).fill(0) };

/** Formats bytes as an id. */
export function hexOf(bytes: Uint8Array, from = 0, to = bytes.length): ObjectId {
  const units = UNITS[to - from] ?? new Array<number>(2 * (to - from));
  for (let i = from, at = 0; i < to; i++) {
    const byte = bytes[i] as number;
    units[at++] = CODES[byte >> 4] as number;
    units[at++] = CODES[byte & 15] as number;
  }
  return String.fromCharCode(...units) as ObjectId;
}

/** Writes an id as bytes. */
export function putId(into: Uint8Array, offset: number, id: ObjectId): void {
  for (let i = 0; i < id.length; i += 2)
    into[offset + (i >> 1)] = BYTES[(id.charCodeAt(i) << 7) | id.charCodeAt(i + 1)] as number;
}
