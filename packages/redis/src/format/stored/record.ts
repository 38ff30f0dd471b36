import type { Metadata } from '@scratchfs/core';

/**
 * The record of one name: 93 bytes at fixed offsets, so that scripts read and change single fields. In a bucket its
 * check follows, 8 characters of a digest over the bucket's number, the name, `/` and the record.
 *
 *      0  kind       1   f file, s symlink, d directory, l file or symlink with several names
 *      1  version    8   a double, like all numbers
 *      9  size       8   bytes of content
 *     17  reference  8   to the content, or to the directory's object
 *     25  metadata  44   of a directory: its transform; its object has the metadata
 *     69  node      24   id as length and text; in the table of inodes: the number of names
 */
export const RECORD_BYTES = 93;
/** Bytes of the check of a record, a directory, a bucket or a page. */
export const CHECK_BYTES = 8;
/** Distance of the records in a bucket. */
export const RECORD_STRIDE = RECORD_BYTES + CHECK_BYTES;
export const META_BYTES = 44;
export const NODE_ID_BYTES = 24;
/** Maximum length of a node's id. */
export const MAX_ID_BYTES = NODE_ID_BYTES - 1;

/** Offsets in a record. */
export const REFERENCE_AT = 17;
export const META_AT = 25;
const NODE_AT = META_AT + META_BYTES;

export interface EntryRecord {
  readonly kind: 'f' | 's' | 'd' | 'l';
  readonly version: number;
  readonly size: number;
  readonly node: string;
}

export function readRecord(bytes: Buffer, at = 0): EntryRecord {
  return {
    kind: String.fromCharCode(bytes[at] as number) as EntryRecord['kind'],
    version: bytes.readDoubleBE(at + 1),
    size: bytes.readDoubleBE(at + 9),
    node: readNodeId(bytes, at + NODE_AT),
  };
}

export function readNodeId(bytes: Buffer, at: number): string {
  return bytes.toString('utf8', at + 1, at + 1 + (bytes[at] as number));
}

export function writeMeta(meta: Metadata, into: Buffer, at: number): number {
  into.writeUInt32BE(meta.mode, at);
  into.writeUInt32BE(meta.uid, at + 4);
  into.writeUInt32BE(meta.gid, at + 8);
  into.writeDoubleBE(meta.atime, at + 12);
  into.writeDoubleBE(meta.mtime, at + 20);
  into.writeDoubleBE(meta.ctime, at + 28);
  return into.writeDoubleBE(meta.birthtime, at + 36);
}

export function readMeta(bytes: Buffer, at: number): Metadata {
  return {
    mode: bytes.readUInt32BE(at),
    uid: bytes.readUInt32BE(at + 4),
    gid: bytes.readUInt32BE(at + 8),
    atime: bytes.readDoubleBE(at + 12),
    mtime: bytes.readDoubleBE(at + 20),
    ctime: bytes.readDoubleBE(at + 28),
    birthtime: bytes.readDoubleBE(at + 36),
  };
}
