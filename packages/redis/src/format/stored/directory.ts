import type { Metadata, Totals } from '@scratchfs/core';
import { CHECK_BYTES, META_BYTES, NODE_ID_BYTES, readMeta, readNodeId } from './record.js';
import { storedTransform, TRANSFORM_BYTES, type Transform } from './transform.js';

/**
 * The object of a directory, 194 bytes: `D`, its number, the versions of its metadata, listing and subtree, its number
 * of names, the totals of its subtree, the reference of its buckets and their number, a transform for its subtree,
 * metadata, node id, check.
 */
export const DIRECTORY_BYTES = 85 + TRANSFORM_BYTES + META_BYTES + NODE_ID_BYTES + CHECK_BYTES;

/** The letter `D`. */
const DIRECTORY_LETTER = 0x44;
const TRANSFORM_AT = 85;

export interface DirectoryObject {
  readonly number: number;
  readonly version: number;
  readonly listing: number;
  readonly tree: number;
  readonly count: number;
  readonly totals: Totals;
  /** Applies to the whole subtree. */
  readonly transform: Transform | undefined;
  readonly meta: Metadata;
  readonly nodeId: string;
}

export function isDirectory(bytes: Buffer): boolean {
  return bytes.length === DIRECTORY_BYTES && bytes[0] === DIRECTORY_LETTER;
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
    transform: storedTransform(bytes.subarray(TRANSFORM_AT, TRANSFORM_AT + TRANSFORM_BYTES)),
    meta: readMeta(bytes, TRANSFORM_AT + TRANSFORM_BYTES),
    nodeId: readNodeId(bytes, TRANSFORM_AT + TRANSFORM_BYTES + META_BYTES),
  };
}
