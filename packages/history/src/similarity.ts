import { isBinary } from './text/is-binary.js';

/** How many bytes a file has in pieces of each content: lines, or 64 bytes of a longer one. */
export interface Profile {
  readonly size: number;
  readonly bytes: ReadonlyMap<number, number>;
}

/** What two equal files are worth. */
export const MAX_SCORE = 60_000;

const LF = 10;
const CR = 13;
const MAX_PIECE_BYTES = 64;
/** Pieces are told apart by hashes of git's size. */
const HASH_MODULUS = 107_927;

/** Reads a file as git's diffcore-delta does, so that the same files are found alike. */
export function profileOf(body: Uint8Array): Profile {
  const isText = !isBinary(body);
  const bytes = new Map<number, number>();
  let [a, b, length] = [0, 0, 0];
  const end = (): void => {
    const hash = ((a + Math.imul(b, 0x61)) >>> 0) % HASH_MODULUS;
    bytes.set(hash, (bytes.get(hash) ?? 0) + length);
    [a, b, length] = [0, 0, 0];
  };
  for (let i = 0; i < body.length; i++) {
    const byte = body[i] as number;
    if (isText && byte === CR && body[i + 1] === LF) continue;
    const before = a;
    a = (((a << 7) ^ (b >>> 25)) + byte) | 0;
    b = (b << 7) ^ (before >>> 25);
    length += 1;
    if (length === MAX_PIECE_BYTES || byte === LF) end();
  }
  if (length > 0) end();
  return { size: body.length, bytes };
}

/** How much of the larger of two files is in both; 0 where their sizes alone rule out the least. */
export function similarityOf(a: Profile, b: Profile, least: number): number {
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  if (large.size === 0 || large.size * (MAX_SCORE - least) < (large.size - small.size) * MAX_SCORE) return 0;
  let shared = 0;
  for (const [hash, bytes] of a.bytes) shared += Math.min(bytes, b.bytes.get(hash) ?? 0);
  return Math.floor((shared * MAX_SCORE) / large.size);
}
