import { RECORD_BYTES } from './record.js';

/**
 * Some names of a directory with their records: `L`, its number, how many, the bytes of the names, the names, each
 * between NUL and `/`, the records in the same order.
 */
const HEADER = 15;

export interface Bucket {
  readonly number: number;
  readonly names: readonly string[];
  /** Where the first record begins. */
  readonly records: number;
}

/** The bucket, or undefined where these bytes are none. */
export function readBucket(bytes: Buffer): Bucket | undefined {
  if (bytes.length < HEADER || bytes[0] !== 0x4c) return undefined;
  const count = bytes.readUInt16BE(9);
  const length = bytes.readUInt32BE(11);
  const records = HEADER + length;
  if (records + count * RECORD_BYTES !== bytes.length) return undefined;
  const names: string[] = [];
  for (let at = HEADER; at < records; ) {
    const end = bytes.indexOf(0x2f, at);
    if (bytes[at] !== 0 || end < 0 || end >= records) return undefined;
    names.push(bytes.toString('utf8', at + 1, end));
    at = end + 1;
  }
  return names.length === count ? { number: bytes.readDoubleBE(1), names, records } : undefined;
}
