import { hash } from 'node:crypto';

/** Maximum bytes of content in one object. */
export const CHUNK_BYTES = 65_536;

/**
 * A chunk holds up to 64 KiB of content: `C`, the chunk's number (0 if it is stored as a client sent it), the number of
 * segments, the segments. A segment is offset, length, digest and bytes, and overwrites the segments before it. One
 * without bytes truncates the content at its offset.
 */
const HEADER_BYTES = 10;
const SEGMENT_HEADER_BYTES = 24;
/** The letter `C`. */
const CHUNK_LETTER = 0x43;
/** Length of a digest in characters. */
export const DIGEST_CHARS = 16;

/** Returns the first 64 bits of SHA-1 in hexadecimal. Redis scripts have SHA-1 built in. It detects damage, not attacks. */
export function digestOf(bytes: Uint8Array): string {
  return hash('sha1', bytes).slice(0, DIGEST_CHARS);
}

/** Encodes a chunk of one segment in the form in which it is stored, so that scripts need not copy it. A copy costs as much as all the rest. */
export function singleSegmentChunk(offset: number, bytes: Uint8Array): Buffer {
  const chunk = Buffer.allocUnsafe(HEADER_BYTES + SEGMENT_HEADER_BYTES + bytes.length);
  chunk[0] = CHUNK_LETTER;
  chunk.fill(0, 1, HEADER_BYTES - 1);
  chunk[HEADER_BYTES - 1] = 1;
  chunk.writeUInt32BE(offset, HEADER_BYTES);
  chunk.writeUInt32BE(bytes.length, HEADER_BYTES + 4);
  chunk.write(digestOf(bytes), HEADER_BYTES + 8, 'latin1');
  chunk.set(bytes, HEADER_BYTES + SEGMENT_HEADER_BYTES);
  return chunk;
}

/**
 * Decodes a chunk into the beginning of `into`, which must hold zeros. Longer content is cut.
 * @returns false if the bytes are not a chunk, or a segment does not match its digest
 */
export function readChunk(bytes: Buffer, into: Uint8Array): boolean {
  if (bytes.length < HEADER_BYTES || bytes[0] !== CHUNK_LETTER) return false;
  let count = 0;
  for (let at = HEADER_BYTES; at < bytes.length; count++) {
    if (at + SEGMENT_HEADER_BYTES > bytes.length) return false;
    const offset = bytes.readUInt32BE(at);
    const length = bytes.readUInt32BE(at + 4);
    const digest = bytes.toString('latin1', at + 8, at + SEGMENT_HEADER_BYTES);
    at += SEGMENT_HEADER_BYTES;
    if (length === 0) {
      into.fill(0, Math.min(offset, into.length));
      continue;
    }
    const segment = bytes.subarray(at, at + length);
    if (segment.length !== length || offset + length > CHUNK_BYTES || digestOf(segment) !== digest) return false;
    if (offset < into.length) into.set(segment.subarray(0, into.length - offset), offset);
    at += length;
  }
  return count === bytes[9];
}
