import { contentStart, HEADER_BYTES, readHeader, writeHeader } from '../snapshot/format.js';
import { type Columns, packIndex, unpackIndex } from '../snapshot/packed-index.js';
import { xxh32 } from '../snapshot/xxh32.js';

/** Test aid: returns a snapshot of any index and contents, with valid checksums. */
export function seal(index: Uint8Array, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const start = contentStart(index.length);
  const bytes = new Uint8Array(start + content.length);
  bytes.set(index, HEADER_BYTES);
  bytes.set(content, start);
  writeHeader(bytes, {
    indexLength: index.length,
    indexHash: xxh32(index),
    contentLength: content.length,
    contentHash: xxh32(content),
  });
  return bytes;
}

export interface Parts {
  index: Uint8Array;
  content: Uint8Array;
  count: number;
  columns: Columns;
}

/** Test aid: returns copies of the parts of a snapshot. */
export function takeApart(bytes: Uint8Array): Parts {
  const { indexLength } = readHeader(bytes);
  const index = bytes.slice(HEADER_BYTES, HEADER_BYTES + indexLength);
  const { count, columns } = unpackIndex(index);
  return { index, content: bytes.slice(contentStart(indexLength)), count, columns };
}

/** Test aid: returns the snapshot with other columns. */
export function withColumns(bytes: Uint8Array, change: Partial<Columns>, count?: number): Uint8Array<ArrayBuffer> {
  const parts = takeApart(bytes);
  return seal(packIndex(count ?? parts.count, { ...parts.columns, ...change }), parts.content);
}
