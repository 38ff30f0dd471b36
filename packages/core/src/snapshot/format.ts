import { StorageError } from '../errors.js';
import { corrupt } from './corrupt.js';
import { xxh32 } from './xxh32.js';

/**
 * The layout of a snapshot, all numbers little-endian:
 *
 *       0   8  magic; like PNG's, it reveals a text conversion of the file
 *       8   4  format version
 *       12  4  XXH32 of the 12 bytes before; up to here, every version has the same layout
 *       16  4  length of the index
 *       20  4  XXH32 of the index
 *       24  8  length of the content area
 *       32  4  XXH32 of the content area
 *       36  4  XXH32 of the 36 bytes before
 *       40     the index, then zeros up to a multiple of 8, then the content area, which ends the snapshot
 *
 * A published version never changes: what it cannot express becomes the next version.
 */
export const FORMAT_VERSION = 1;
export const HEADER_BYTES = 40;

const MAGIC = [0x89, 0x53, 0x46, 0x53, 0x0d, 0x0a, 0x1a, 0x0a] as const;
const VERSIONED_BYTES = 16;

export interface Header {
  readonly indexLength: number;
  readonly indexHash: number;
  readonly contentLength: number;
  readonly contentHash: number;
}

/** Returns the offset of the content area. */
export function contentStart(indexLength: number): number {
  return Math.ceil((HEADER_BYTES + indexLength) / 8) * 8;
}

export function writeHeader(into: Uint8Array, header: Header): void {
  const view = new DataView(into.buffer, into.byteOffset, HEADER_BYTES);
  into.set(MAGIC);
  view.setUint32(8, FORMAT_VERSION, true);
  view.setUint32(12, xxh32(into, 0, 12), true);
  view.setUint32(16, header.indexLength, true);
  view.setUint32(20, header.indexHash, true);
  view.setUint32(24, header.contentLength % 2 ** 32, true);
  view.setUint32(28, Math.floor(header.contentLength / 2 ** 32), true);
  view.setUint32(32, header.contentHash, true);
  view.setUint32(36, xxh32(into, 0, 36), true);
}

/** Reads the header and checks its lengths against the actual bytes. @throws StorageError `corrupt`, `version` */
export function readHeader(bytes: Uint8Array): Header {
  if (bytes.length < VERSIONED_BYTES) throw corrupt(`${bytes.length} bytes are too few`);
  if (MAGIC.some((byte, at) => bytes[at] !== byte)) throw corrupt('it does not start as a snapshot does');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(12, true) !== xxh32(bytes, 0, 12)) throw corrupt('the checksum of its version is wrong');
  checkVersion(view.getUint32(8, true));
  if (bytes.length < HEADER_BYTES) throw corrupt(`${bytes.length} bytes are too few`);
  if (view.getUint32(36, true) !== xxh32(bytes, 0, 36)) throw corrupt('the checksum of its header is wrong');
  const indexLength = view.getUint32(16, true);
  const contentLength = view.getUint32(24, true) + view.getUint32(28, true) * 2 ** 32;
  const expected = contentStart(indexLength) + contentLength;
  if (expected !== bytes.length) throw corrupt(`it should have ${expected} bytes and has ${bytes.length}`);
  return { indexLength, indexHash: view.getUint32(20, true), contentLength, contentHash: view.getUint32(32, true) };
}

function checkVersion(version: number): void {
  if (version > FORMAT_VERSION) {
    throw new StorageError(
      'version',
      `The snapshot has format version ${version}, written by a newer release; this one reads versions up to ${FORMAT_VERSION}`,
    );
  }
  if (version !== FORMAT_VERSION) throw corrupt(`there is no format version ${version}`);
}
