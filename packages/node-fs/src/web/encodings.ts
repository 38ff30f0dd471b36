import { CODECS as BESIDE_UTF8, type Codec } from '@scratchfs/core/encodings';

const UTF8 = new TextEncoder();
// Malformed bytes become U+FFFD and a byte order mark is kept, as in Buffer.
const FROM_UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

const utf8: Codec = {
  decode: (bytes) => FROM_UTF8.decode(bytes),
  encode: (text) => UTF8.encode(text),
};

const CODECS = new Map<string, Codec>([['utf8', utf8], ['utf-8', utf8], ...Object.entries(BESIDE_UTF8)]);

/** Returns the codec of an encoding, whose name may be in any case. Undefined for an unknown one. */
export function codecOf(name: unknown): Codec | undefined {
  return typeof name === 'string' ? CODECS.get(name.toLowerCase()) : undefined;
}
