import { createHash } from 'node:crypto';
import type { Metadata } from '@scratchfs/core';

/**
 * How what is beneath a copied directory differs from its source, until it is changed for the first time: a salt for
 * the ids, the times, and whether the other times are kept. 33 bytes: `k` or `t`, 16 characters of salt, ctime, time.
 * Kept as it is stored. The scripts do the same (`lua/objects.ts`).
 */
export type Transform = Buffer;

export const TRANSFORM_BYTES = 33;

const KEEP = 0x6b;

export function transformBytes(salt: string, time: number, keepTimes: boolean): Transform {
  const bytes = Buffer.alloc(TRANSFORM_BYTES);
  bytes.write(keepTimes ? 'k' : 't', 0, 'latin1');
  bytes.write(salt, 1, 16, 'latin1');
  bytes.writeDoubleBE(time, 17);
  bytes.writeDoubleBE(time, 25);
  return bytes;
}

/** The transform stored at the beginning of some bytes, if there is one. */
export function storedTransform(bytes: Buffer): Transform | undefined {
  return bytes.length === 0 || bytes[0] === 0 ? undefined : bytes.subarray(0, TRANSFORM_BYTES);
}

/** What a transform amounts to that is itself seen through another one. */
export function compose(inner: Transform | undefined, outer: Transform | undefined): Transform | undefined {
  if (inner === undefined) return outer;
  if (outer === undefined) return inner;
  const bytes = Buffer.from(outer);
  const salts = Buffer.concat([inner.subarray(1, 17), outer.subarray(1, 17)]);
  bytes.write(sha1(salts).slice(0, 16), 1, 'latin1');
  if (outer[0] === KEEP) {
    bytes[0] = inner[0] as number;
    inner.copy(bytes, 25, 25, 33);
  }
  return bytes;
}

/** A node's id as it is in the copy. */
export function copiedId(id: string, transform: Transform): string {
  return sha1(Buffer.concat([transform.subarray(1, 17), Buffer.from(id)])).slice(0, 20);
}

export function copiedMeta(meta: Metadata, transform: Transform): Metadata {
  const ctime = transform.readDoubleBE(17);
  const time = transform.readDoubleBE(25);
  const kept = transform[0] === KEEP;
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
