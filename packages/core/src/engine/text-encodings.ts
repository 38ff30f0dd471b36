import { checkOneOf, describe } from './arguments.js';

/**
 * Converts between bytes and text. Bytes may be decoded piece by piece if each piece but the last has a multiple of six
 * bytes: the texts of the pieces, joined, are the text of the whole.
 */
export interface Codec {
  decode(bytes: Uint8Array): string;
  encode(text: string): Uint8Array<ArrayBuffer>;
}

const CODECS = new Map<string, Codec>();

/** Registers encodings other than UTF-8 for all filesystems. */
export function addCodecs(codecs: Readonly<Record<string, Codec>>): void {
  for (const [name, codec] of Object.entries(codecs)) CODECS.set(name, codec);
}

/** Returns the codec of an encoding; undefined for UTF-8. @throws TypeError for an encoding that is not known */
export function codecOf(encoding: unknown): Codec | undefined {
  const name = typeof encoding === 'string' ? encoding.toLowerCase() : '';
  const codec = CODECS.get(name);
  if (codec !== undefined || name === 'utf8' || name === 'utf-8') return codec;
  throw new TypeError(
    `Unknown encoding ${describe(encoding)}: it is utf8, or with import 'scratchfs/encodings' one of node`,
  );
}

/** Checks the encoding of names, which are text. @throws TypeError */
export function checkNameEncoding(encoding: 'utf8' | 'utf-8' | null | undefined): void {
  checkOneOf(encoding ?? 'utf8', ['utf8', 'utf-8'], 'encoding');
}
