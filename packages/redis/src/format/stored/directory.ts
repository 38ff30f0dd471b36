import type { Metadata, Totals } from '@scratchfs/core';
import { META_BYTES, NODE_BYTES, readMeta, readNode } from './record.js';
import { storedTransform, TRANSFORM_BYTES, type Transform } from './transform.js';

/**
 * A directory's own object, 186 bytes: `D`, its number, the versions of its metadata, listing and subtree, how many names
 * it has, the totals beneath it, the reference of its buckets and their number, a transform for what is beneath,
 * metadata, node.
 */
export const DIRECTORY_BYTES = 85 + TRANSFORM_BYTES + META_BYTES + NODE_BYTES;

export interface DirectoryObject {
  readonly number: number;
  readonly version: number;
  readonly listing: number;
  readonly tree: number;
  readonly count: number;
  readonly totals: Totals;
  /** For everything beneath it. */
  readonly transform: Transform | undefined;
  readonly meta: Metadata;
  readonly node: string;
}

export function isDirectory(bytes: Buffer): boolean {
  return bytes.length === DIRECTORY_BYTES && bytes[0] === 0x44;
}

export function readDirectory(bytes: Buffer): DirectoryObject {
  const double = (at: number): number => bytes.readDoubleBE(at);
  return {
    number: double(1),
    version: double(9),
    listing: double(17),
    tree: double(25),
    count: double(33),
    totals: { size: double(41), files: double(49), directories: double(57), linked: double(65) },
    transform: storedTransform(bytes.subarray(85, 85 + TRANSFORM_BYTES)),
    meta: readMeta(bytes, 85 + TRANSFORM_BYTES),
    node: readNode(bytes, 85 + TRANSFORM_BYTES + META_BYTES),
  };
}
