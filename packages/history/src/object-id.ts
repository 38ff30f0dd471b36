import { HistoryError } from './errors.js';

declare const brand: unique symbol;

/** The hash of a git object in lower-case hexadecimal: 40 digits for SHA-1, 64 for SHA-256. */
export type ObjectId = string & { readonly [brand]: 'ObjectId' };

/** The hash that a repository names its objects by. */
export type ObjectFormat = 'sha1' | 'sha256';

/** Bytes of an id. */
export const ID_BYTES = { sha1: 20, sha256: 32 } as const satisfies Record<ObjectFormat, number>;

const FULL = { sha1: /^[0-9a-f]{40}$/, sha256: /^[0-9a-f]{64}$/ };

export function isObjectId(text: string, format: ObjectFormat): text is ObjectId {
  return FULL[format].test(text);
}

/** @throws HistoryError `not-found` for text that is no id of this format */
export function objectId(text: string, format: ObjectFormat): ObjectId {
  if (typeof text !== 'string') throw new TypeError('An object id is a string of hexadecimal digits');
  if (!isObjectId(text, format))
    throw new HistoryError('not-found', `Not the id of an object: ${JSON.stringify(text.slice(0, 80))}`, { id: text });
  return text;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
/** The value of a hexadecimal digit by its character code. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? 0 : value;
});

export function hexOf(bytes: Uint8Array): ObjectId {
  let text = '';
  for (const byte of bytes) text += HEX[byte];
  return text as ObjectId;
}

/** Writes an id as bytes. */
export function putId(into: Uint8Array, offset: number, id: ObjectId): void {
  for (let i = 0; i < id.length; i += 2)
    into[offset + (i >> 1)] = ((DIGITS[id.charCodeAt(i)] as number) << 4) | (DIGITS[id.charCodeAt(i + 1)] as number);
}
