import { hash } from 'node:crypto';

/** Bytes of content in one object. */
export const CHUNK_BYTES = 65_536;

/**
 * Up to 64 KiB of content: `C`, its number (0 where it is as a client has sent it), how many segments, the segments. A segment is offset, length, digest and bytes, written over
 * those before it; one without bytes cuts what is beyond its offset.
 */
const HEADER = 10;
const SEGMENT = 24;
/** Characters of a digest. */
export const DIGEST_CHARS = 16;

/** The first 64 bits of SHA-1, in hexadecimal: what both sides have at hand. It finds damage, it does not stop an attacker. */
export function digestOf(bytes: Uint8Array): string {
  return hash('sha1', bytes).slice(0, DIGEST_CHARS);
}

/** A chunk of one segment, as it is sent and stored: scripts make no copy of it, each of which costs as much as all the rest. */
export function chunkOf(offset: number, bytes: Uint8Array): Buffer {
  const chunk = Buffer.allocUnsafe(HEADER + SEGMENT + bytes.length);
  chunk[0] = 0x43;
  chunk.fill(0, 1, HEADER - 1);
  chunk[HEADER - 1] = 1;
  chunk.writeUInt32BE(offset, HEADER);
  chunk.writeUInt32BE(bytes.length, HEADER + 4);
  chunk.write(digestOf(bytes), HEADER + 8, 'latin1');
  chunk.set(bytes, HEADER + SEGMENT);
  return chunk;
}

/**
 * Writes a chunk's content into `into`, which holds zeros, from its beginning; what is longer is cut.
 * @returns false where the bytes are no chunk, or a segment is not what was written
 */
export function readChunk(bytes: Buffer, into: Uint8Array): boolean {
  if (bytes.length < HEADER || bytes[0] !== 0x43) return false;
  let count = 0;
  for (let at = HEADER; at < bytes.length; count++) {
    if (at + SEGMENT > bytes.length) return false;
    const offset = bytes.readUInt32BE(at);
    const length = bytes.readUInt32BE(at + 4);
    const digest = bytes.toString('latin1', at + 8, at + SEGMENT);
    at += SEGMENT;
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
