import { isBinary } from './text/is-binary.js';

/** Contents of a file, summarized for comparison with other files. */
export interface Profile {
  /** Bytes of the file. */
  readonly size: number;
  /** Number of bytes in pieces, by hash of the piece. A piece is a line, or 64 bytes of a longer line. */
  readonly bytes: ReadonlyMap<number, number>;
}

/** Score of two equal files that are not empty. */
export const MAX_SCORE = 60_000;

const LF = 10;
const CR = 13;
const MAX_PIECE_BYTES = 64;
/** git's modulus for the hashes of pieces. */
const HASH_MODULUS = 107_927;

/** Profiles a file as git's diffcore-delta does, so that the same files count as similar as in git. */
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

/**
 * Returns the share of the larger file that both have, up to {@link MAX_SCORE}; 0 if both are empty or the sizes alone
 * rule out `least`.
 */
export function similarityOf(a: Profile, b: Profile, least: number): number {
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  if (large.size === 0 || large.size * (MAX_SCORE - least) < (large.size - small.size) * MAX_SCORE) return 0;
  let shared = 0;
  for (const [hash, bytes] of a.bytes) shared += Math.min(bytes, b.bytes.get(hash) ?? 0);
  return Math.floor((shared * MAX_SCORE) / large.size);
}
