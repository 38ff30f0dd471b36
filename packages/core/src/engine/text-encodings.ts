import { describe } from './arguments.js';

/** Converts between bytes and text. Cutting bytes at a multiple of six cuts the text too, without other changes. */
export interface Codec {
  decode(bytes: Uint8Array): string;
  encode(text: string): Uint8Array<ArrayBuffer>;
}

const CODECS = new Map<string, Codec>();

/** Makes encodings beside UTF-8 known to every filesystem. */
export function addCodecs(codecs: Readonly<Record<string, Codec>>): void {
  for (const [name, codec] of Object.entries(codecs)) CODECS.set(name, codec);
}

/** Returns the codec of an encoding; undefined for UTF-8. @throws TypeError for an encoding that is not known */
export function codecOf(encoding: unknown): Codec | undefined {
  const name = String(encoding).toLowerCase();
  if (name === 'utf8' || name === 'utf-8') return undefined;
  const codec = typeof encoding === 'string' ? CODECS.get(name) : undefined;
  if (codec !== undefined) return codec;
  const more = CODECS.size > 0 ? [...CODECS.keys()].join(', ') : "with import 'scratchfs/encodings' others of node";
  throw new TypeError(`encoding must be utf8, or ${more}, not ${describe(encoding)}`);
}

/** Checks the encoding of names, which are text. @throws TypeError */
export function checkNameEncoding(encoding: unknown): void {
  const name = encoding ?? 'utf8';
  if (name === 'utf8' || name === 'utf-8') return;
  throw new TypeError(`encoding of names must be utf8, not ${describe(encoding)}`);
}
