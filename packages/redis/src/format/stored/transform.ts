import { createHash } from 'node:crypto';
import type { Metadata } from '@scratchfs/core';

/**
 * The difference between a copied directory's subtree and its source. It applies to each node of the copy until the
 * node is first changed. Its stored form has 33 bytes: `k` (atime and mtime are kept) or `t`, 16 characters of salt for
 * the ids, ctime, time. The scripts apply it too (`lua/tree/objects.ts`).
 */
export type Transform = Buffer;

export const TRANSFORM_BYTES = 33;

/** The letter `k`. */
const KEEP_TIMES_LETTER = 0x6b;

export function transformBytes(salt: string, time: number, keepTimes: boolean): Transform {
  const bytes = Buffer.alloc(TRANSFORM_BYTES);
  bytes.write(keepTimes ? 'k' : 't', 0, 'latin1');
  bytes.write(salt, 1, 16, 'latin1');
  bytes.writeDoubleBE(time, 17);
  bytes.writeDoubleBE(time, 25);
  return bytes;
}

/** Returns the transform stored at the beginning of some bytes, if there is one. */
export function storedTransform(bytes: Buffer): Transform | undefined {
  return bytes.length === 0 || bytes[0] === 0 ? undefined : bytes.subarray(0, TRANSFORM_BYTES);
}

/** Returns the transform that applies `inner` first, then `outer`. */
export function compose(inner: Transform | undefined, outer: Transform | undefined): Transform | undefined {
  if (inner === undefined) return outer;
  if (outer === undefined) return inner;
  const bytes = Buffer.from(outer);
  const salts = Buffer.concat([inner.subarray(1, 17), outer.subarray(1, 17)]);
  bytes.write(sha1(salts).slice(0, 16), 1, 'latin1');
  if (outer[0] === KEEP_TIMES_LETTER) {
    bytes[0] = inner[0] as number;
    inner.copy(bytes, 25, 25, 33);
  }
  return bytes;
}

/** Returns the id that a node has in the copy. */
export function copiedId(id: string, transform: Transform): string {
  return sha1(Buffer.concat([transform.subarray(1, 17), Buffer.from(id)])).slice(0, 20);
}

export function copiedMeta(meta: Metadata, transform: Transform): Metadata {
  const ctime = transform.readDoubleBE(17);
  const time = transform.readDoubleBE(25);
  const kept = transform[0] === KEEP_TIMES_LETTER;
  return {
    mode: meta.mode,
    uid: 0,
    gid: 0,
    atime: kept ? meta.atime : time,
    mtime: kept ? meta.mtime : time,
    ctime,
    birthtime: ctime,
  };
}

function sha1(bytes: Buffer): string {
  return createHash('sha1').update(bytes).digest('hex');
}
