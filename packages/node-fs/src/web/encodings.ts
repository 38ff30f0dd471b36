/** The encodings of Node's Buffer, without Buffer. */

const UTF8 = new TextEncoder();
// Malformed bytes become U+FFFD and a byte order mark is kept, as in Buffer.
const FROM_UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });
const FROM_UTF16 = new TextDecoder('utf-16le', { ignoreBOM: true });

interface Codec {
  decode(bytes: Uint8Array): string;
  encode(text: string): Uint8Array<ArrayBuffer>;
}

const utf8: Codec = {
  decode: (bytes) => FROM_UTF8.decode(bytes),
  encode: (text) => UTF8.encode(text),
};

const utf16: Codec = {
  decode: (bytes) => FROM_UTF16.decode(bytes.subarray(0, bytes.length & ~1)),
  encode(text) {
    const view = new DataView(new ArrayBuffer(text.length * 2));
    for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), true);
    return new Uint8Array(view.buffer);
  },
};

const latin1: Codec = {
  decode: (bytes) => units(bytes, 0xff),
  encode: (text) => Uint8Array.from({ length: text.length }, (_, i) => text.charCodeAt(i)),
};

const ascii: Codec = { decode: (bytes) => units(bytes, 0x7f), encode: latin1.encode };

const SLICE_BYTES = 8192;

function units(bytes: Uint8Array, mask: number): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += SLICE_BYTES) {
    text += String.fromCharCode(...bytes.subarray(i, i + SLICE_BYTES).map((byte) => byte & mask));
  }
  return text;
}

const hex: Codec = {
  decode: (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  encode(text) {
    // The first character that is not a hexadecimal digit ends it.
    const digits = /^(?:[0-9a-f]{2})*/i.exec(text)?.[0] ?? '';
    return Uint8Array.from({ length: digits.length / 2 }, (_, i) =>
      Number.parseInt(digits.slice(i * 2, i * 2 + 2), 16),
    );
  },
};

const base64: Codec = {
  decode: (bytes) => btoa(units(bytes, 0xff)),
  encode(text) {
    const plain = text
      .replace(/-/g, '+')
      .replace(/_/g, '/')
      .replace(/=.*$/s, '')
      .replace(/[^A-Za-z0-9+/]/g, '');
    // A single trailing character holds no whole byte.
    return latin1.encode(atob(plain.length % 4 === 1 ? plain.slice(0, -1) : plain)) as Uint8Array<ArrayBuffer>;
  },
};

const base64url: Codec = {
  decode: (bytes) => base64.decode(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, ''),
  encode: base64.encode,
};

const CODECS = new Map<string, Codec>([
  ['utf8', utf8],
  ['utf-8', utf8],
  ['ucs2', utf16],
  ['ucs-2', utf16],
  ['utf16le', utf16],
  ['utf-16le', utf16],
  ['latin1', latin1],
  ['binary', latin1],
  ['ascii', ascii],
  ['hex', hex],
  ['base64', base64],
  ['base64url', base64url],
]);

/** Returns the codec of a name, ignoring case. */
export function codecOf(name: unknown): Codec | undefined {
  return typeof name === 'string' ? CODECS.get(name.toLowerCase()) : undefined;
}
