import { hash } from 'node:crypto';

/** Maximum bytes of content in one object. */
export const CHUNK_BYTES = 65_536;

/**
 * A chunk holds up to 64 KiB of content: `C`, the number of segments, the segments, and in its stored form the chunk's
 * number, so that another chunk in its place is noticed. A segment is digest, offset, length and bytes, and overwrites
 * the segments before it; its digest covers the rest of it. One without bytes truncates the content at its offset.
 *
 * A large chunk of one segment begins with `B` and has no number. A field of its own holds its digest once more, so
 * that another chunk in its place is noticed.
 */
const HEADER_BYTES = 2;
const SEGMENT_HEADER_BYTES = 24;
const NUMBER_BYTES = 8;
/** The letter `C`. */
const CHUNK_LETTER = 0x43;
/** The letter `B`. */
const LARGE_CHUNK_LETTER = 0x42;
/** Least bytes of content in a large chunk. */
const LARGE_CHUNK_BYTES = 8_192;
/** Length of a digest in characters. */
export const DIGEST_CHARS = 16;

/**
 * Returns the first 64 bits of SHA-1 in hexadecimal. Redis scripts have SHA-1 built in. It detects damage, not attacks.
 */
export function digestOf(bytes: Uint8Array): string {
  return hash('sha1', bytes).slice(0, DIGEST_CHARS);
}

/** Encodes a chunk of one segment, to which a script only appends the number, or nothing if it is large. */
export function singleSegmentChunk(offset: number, bytes: Uint8Array): Buffer {
  const chunk = Buffer.allocUnsafe(HEADER_BYTES + SEGMENT_HEADER_BYTES + bytes.length);
  chunk[0] = offset === 0 && bytes.length >= LARGE_CHUNK_BYTES ? LARGE_CHUNK_LETTER : CHUNK_LETTER;
  chunk[1] = 1;
  chunk.writeUInt32BE(offset, HEADER_BYTES + DIGEST_CHARS);
  chunk.writeUInt32BE(bytes.length, HEADER_BYTES + DIGEST_CHARS + 4);
  chunk.set(bytes, HEADER_BYTES + SEGMENT_HEADER_BYTES);
  chunk.write(digestOf(chunk.subarray(HEADER_BYTES + DIGEST_CHARS)), HEADER_BYTES, 'latin1');
  return chunk;
}

/**
 * Decodes a stored chunk into the beginning of `into`, which must hold zeros. Longer content is cut. Scripts have
 * verified that it is the right one.
 * @returns false if the bytes are not a chunk, or a segment does not match its digest
 */
export function readChunk(stored: Buffer, into: Uint8Array): boolean {
  if (stored.length < HEADER_BYTES + NUMBER_BYTES) return false;
  const isLarge = stored[0] === LARGE_CHUNK_LETTER;
  if (!isLarge && stored[0] !== CHUNK_LETTER) return false;
  const bytes = isLarge ? stored : stored.subarray(0, stored.length - NUMBER_BYTES);
  let count = 0;
  for (let at = HEADER_BYTES; at < bytes.length; count++) {
    const contentAt = at + SEGMENT_HEADER_BYTES;
    if (contentAt > bytes.length) return false;
    const offset = bytes.readUInt32BE(at + DIGEST_CHARS);
    const length = bytes.readUInt32BE(at + DIGEST_CHARS + 4);
    const end = contentAt + length;
    if (end > bytes.length || offset + length > CHUNK_BYTES) return false;
    const digest = bytes.toString('latin1', at, at + DIGEST_CHARS);
    if (digestOf(bytes.subarray(at + DIGEST_CHARS, end)) !== digest) return false;
    if (length === 0) into.fill(0, Math.min(offset, into.length));
    else if (offset < into.length)
      into.set(bytes.subarray(contentAt, Math.min(end, contentAt + into.length - offset)), offset);
    at = end;
  }
  return count === bytes[1];
}
