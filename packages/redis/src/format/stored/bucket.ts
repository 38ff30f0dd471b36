import { RECORD_BYTES } from './record.js';

/**
 * A bucket holds some of a directory's names with their records: `L`, the bucket's number, the number of names (2 bytes),
 * the length of the names (4 bytes), the names, each between NUL and `/`, then the records in the same order.
 */
const HEADER_BYTES = 15;
/** The letter `L`. */
const BUCKET_LETTER = 0x4c;
/** The `/` that ends a name. */
const SLASH = 0x2f;

export interface Bucket {
  readonly number: number;
  readonly names: readonly string[];
  /** Offset of the first record. */
  readonly recordsAt: number;
}

/** Decodes a bucket. Returns undefined if the bytes are not a bucket. */
export function readBucket(bytes: Buffer): Bucket | undefined {
  if (bytes.length < HEADER_BYTES || bytes[0] !== BUCKET_LETTER) return undefined;
  const count = bytes.readUInt16BE(9);
  const length = bytes.readUInt32BE(11);
  const recordsAt = HEADER_BYTES + length;
  if (recordsAt + count * RECORD_BYTES !== bytes.length) return undefined;
  const names: string[] = [];
  for (let at = HEADER_BYTES; at < recordsAt; ) {
    const end = bytes.indexOf(SLASH, at);
    if (bytes[at] !== 0 || end < 0 || end >= recordsAt) return undefined;
    names.push(bytes.toString('utf8', at + 1, end));
    at = end + 1;
  }
  return names.length === count ? { number: bytes.readDoubleBE(1), names, recordsAt } : undefined;
}
