import { addCodecs, type Codec } from './engine/text-encodings.js';

/** UTF-16 units per call of `String.fromCharCode`: too many arguments would overflow the stack. */
const UNITS_AT_ONCE = 8192;

function textOf(units: Uint8Array | Uint16Array): string {
  let text = '';
  for (let i = 0; i < units.length; i += UNITS_AT_ONCE)
    text += String.fromCharCode(...units.subarray(i, i + UNITS_AT_ONCE));
  return text;
}

/** Returns bytes that `byteAt` computes one by one. `Uint8Array.from` is much slower. */
function bytesOf(length: number, byteAt: (at: number) => number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = byteAt(i);
  return bytes;
}

const latin1: Codec = {
  decode: textOf,
  encode: (text) => bytesOf(text.length, (at) => text.charCodeAt(at)),
};

const ascii: Codec = {
  decode: (bytes) => textOf(bytesOf(bytes.length, (at) => (bytes[at] as number) & 0x7f)),
  encode: latin1.encode,
};

/** Lone surrogates are kept; a last single byte is dropped. */
const utf16le: Codec = {
  decode(bytes) {
    const units = new Uint16Array(bytes.length >> 1);
    for (let i = 0; i < units.length; i++) units[i] = (bytes[i * 2] as number) | ((bytes[i * 2 + 1] as number) << 8);
    return textOf(units);
  },
  encode: (text) => bytesOf(text.length * 2, (at) => text.charCodeAt(at >> 1) >> ((at & 1) * 8)),
};

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

const hex: Codec = {
  decode(bytes) {
    let text = '';
    for (const byte of bytes) text += HEX[byte];
    return text;
  },
  encode(text) {
    // The first pair that is not hexadecimal ends the bytes.
    const end = text.search(/[^0-9a-f]/i);
    const digits = end < 0 ? text.length : end;
    return bytesOf(digits >> 1, (at) => Number.parseInt(text.slice(at * 2, at * 2 + 2), 16));
  },
};

const base64: Codec = {
  decode: (bytes) => btoa(textOf(bytes)),
  encode(text) {
    const [given = ''] = text.replaceAll('-', '+').replaceAll('_', '/').split('=', 1);
    const plain = given.replace(/[^A-Za-z0-9+/]+/g, '');
    // A single last character holds no whole byte.
    return latin1.encode(atob(plain.length % 4 === 1 ? plain.slice(0, -1) : plain));
  },
};

const base64url: Codec = {
  decode: (bytes) => base64.decode(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
  encode: base64.encode,
};

/** Codecs of the encodings of Node's Buffer other than UTF-8, by name. */
export const CODECS: Readonly<Record<string, Codec>> = Object.freeze({
  hex,
  base64,
  base64url,
  latin1,
  binary: latin1,
  ascii,
  utf16le,
  'utf-16le': utf16le,
  ucs2: utf16le,
  'ucs-2': utf16le,
});

addCodecs(CODECS);

export type { Codec } from './engine/text-encodings.js';
