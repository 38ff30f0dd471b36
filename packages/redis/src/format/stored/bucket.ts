import { hash } from 'node:crypto';
import { CHECK_BYTES, RECORD_BYTES, RECORD_STRIDE } from './record.js';

/**
 * A bucket holds some of a directory's names with their records: `L`, the bucket's number, the number of names (2
 * bytes), the length of the names (4 bytes), the names, each between NUL and `/`, then the records with their checks in
 * the same order, and the check of the names.
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

const NUMBER_BYTES = 8;

/** Reused for the input of a check: at most a bucket's number, a name of 255 bytes, `/`, and a record. */
const checked = Buffer.alloc(NUMBER_BYTES + 256 + RECORD_BYTES);

/** Reports whether a record matches its check. `name` is the name with the `/` that ends it. */
function isWholeRecord(bytes: Buffer, at: number, name: Buffer): boolean {
  if (name.length > 256) return false;
  let length = bytes.copy(checked, 0, 1, 1 + NUMBER_BYTES);
  length += name.copy(checked, length);
  length += bytes.copy(checked, length, at, at + RECORD_BYTES);
  const check = hash('sha1', checked.subarray(0, length)).slice(0, CHECK_BYTES);
  return check === bytes.toString('latin1', at + RECORD_BYTES, at + RECORD_STRIDE);
}

/**
 * Decodes a bucket. Returns undefined if the bytes are not a bucket, or a record is damaged. Scripts have verified the
 * names.
 */
export function readBucket(bytes: Buffer): Bucket | undefined {
  if (bytes.length < HEADER_BYTES || bytes[0] !== BUCKET_LETTER) return undefined;
  const count = bytes.readUInt16BE(9);
  const length = bytes.readUInt32BE(11);
  const recordsAt = HEADER_BYTES + length;
  if (recordsAt + count * RECORD_STRIDE + CHECK_BYTES !== bytes.length) return undefined;
  const names: string[] = [];
  for (let at = HEADER_BYTES; at < recordsAt; ) {
    const end = bytes.indexOf(SLASH, at);
    if (bytes[at] !== 0 || end < 0 || end >= recordsAt) return undefined;
    if (
      names.length >= count ||
      !isWholeRecord(bytes, recordsAt + names.length * RECORD_STRIDE, bytes.subarray(at + 1, end + 1))
    )
      return undefined;
    names.push(bytes.toString('utf8', at + 1, end));
    at = end + 1;
  }
  return names.length === count ? { number: bytes.readDoubleBE(1), names, recordsAt } : undefined;
}
