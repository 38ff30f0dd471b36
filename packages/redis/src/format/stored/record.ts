import type { Metadata } from '@scratchfs/core';

/**
 * What a bucket holds of one name: 93 bytes at fixed positions, so that scripts read and change a field by its place.
 *
 *      0  kind       1   f file, s symlink, d directory, l a file with several names
 *      1  version    8   double, as all numbers
 *      9  size       8   bytes of content
 *     17  reference  8   of the content, or of the directory's object
 *     25  metadata  44   of a directory: its transform, the metadata being in its object
 *     69  node      24   length and text; in the table of inodes: the number of names
 */
export const RECORD_BYTES = 93;
export const META_BYTES = 44;
export const NODE_BYTES = 24;
/** Bytes of a node's id. */
export const MAX_ID_BYTES = NODE_BYTES - 1;

export interface FileRecord {
  readonly kind: 'f' | 's' | 'd' | 'l';
  readonly version: number;
  readonly size: number;
  readonly node: string;
}

export function readRecord(bytes: Buffer, at = 0): FileRecord {
  return {
    kind: String.fromCharCode(bytes[at] as number) as FileRecord['kind'],
    version: bytes.readDoubleBE(at + 1),
    size: bytes.readDoubleBE(at + 9),
    node: readNode(bytes, at + 69),
  };
}

export function readNode(bytes: Buffer, at: number): string {
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
