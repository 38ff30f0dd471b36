import type { Listing, LoadRequest, LoadResult, NodeRecord } from '@scratchfs/core';
import { readBucket } from '../stored/bucket.js';
import { CHUNK_BYTES, readChunk } from '../stored/chunk.js';
import { RECORD_STRIDE } from '../stored/record.js';
import type { Transform } from '../stored/transform.js';
import { corruptReply } from './corrupt.js';
import { readDirectoryNode, readRecordNode, type StoredState } from './nodes.js';
import { type Rows, sortRows } from './sorted-rows.js';

/** The reply of a script, or the load script's reply to one request: a list of bytes, texts and lists. */
export type Reply = readonly (Buffer | string | readonly Buffer[] | Reply)[];

export function isGoneReply(reply: Reply): boolean {
  return reply.length === 1 && Buffer.isBuffer(reply[0]) && reply[0].toString('latin1') === 'gone';
}

export function readPath(reply: Reply, state: StoredState): Extract<LoadResult, { kind: 'path' }> {
  const parts = reply as readonly Buffer[];
  const nodes: (NodeRecord | null)[] = [readDirectoryNode(bytesAt(parts, 0), undefined, state, true)];
  let at = 1;
  while (at < parts.length && parts[at]?.toString('latin1') !== 'content') {
    const record = bytesAt(parts, at);
    if (record.length === 0) {
      nodes.push(null);
      return { kind: 'path', nodes };
    }
    nodes.push(readRecordNode(record, 0, transformOf(bytesAt(parts, at + 1)), bytesAt(parts, at + 2), state));
    at += 3;
  }
  if (at >= parts.length) return { kind: 'path', nodes };
  const last = nodes.at(-1) as NodeRecord;
  if (last.size > (parts.length - at - 1) * CHUNK_BYTES) throw corruptReply('a content that ends too early');
  const content = new Uint8Array(last.size);
  readChunks(parts.slice(at + 1), content, 0, last.size);
  return { kind: 'path', nodes, content };
}

/**
 * Decodes consecutive chunks of a file into `into`.
 * @param start offset of the first chunk in the file
 * @param size size of the file
 * @param from offset of `into` in the file
 */
export function readChunks(chunks: readonly Buffer[], into: Uint8Array, start: number, size: number, from = 0): void {
  chunks.forEach((chunk, i) => {
    const at = start + i * CHUNK_BYTES;
    const length = Math.min(CHUNK_BYTES, size - at);
    if (chunk.length === 0 || length <= 0) return;
    const fits = at >= from && at + length <= from + into.length;
    const target = fits ? into.subarray(at - from, at - from + length) : new Uint8Array(length);
    if (!readChunk(chunk, target)) throw corruptReply('a piece of content');
    if (fits) return;
    const first = Math.max(at, from);
    const end = Math.min(at + length, from + into.length);
    if (end > first) into.set(target.subarray(first - at, end - at), first - from);
  });
}

/**
 * Decodes the buckets of a reply from a position on. Each has three parts: bytes, transform, and the extra data of its
 * records.
 */
export function readBuckets(reply: Reply, from: number, state: StoredState): Rows {
  const names: string[] = [];
  const nodes: NodeRecord[] = [];
  for (let i = from; i + 2 < reply.length; i += 3) {
    const bytes = reply[i] as Buffer;
    const transform = transformOf(reply[i + 1] as Buffer);
    const extras = reply[i + 2] as readonly Buffer[];
    const bucket = readBucket(bytes);
    if (bucket === undefined) throw corruptReply('a listing');
    let next = 0;
    // Only records of kind `f`, files with one name, have no extra data.
    bucket.names.forEach((name, index) => {
      const at = bucket.recordsAt + index * RECORD_STRIDE;
      const isFile = bytes[at] === FILE_LETTER;
      const extra = isFile ? EMPTY : (extras[next++] ?? EMPTY);
      names.push(name);
      nodes.push(readRecordNode(bytes, at, transform, extra, state));
    });
  }
  return { names, nodes };
}

const EMPTY = Buffer.alloc(0);
/** The letter `f`. */
const FILE_LETTER = 0x66;

/** Decodes a directory and the listings of its subtree that the reply contains. */
export function readTreeReply(
  reply: Reply,
  state: StoredState,
  request: Extract<LoadRequest, { kind: 'tree' }>,
): { readonly directory: NodeRecord; readonly listings: Listing[] } {
  const directory = readDirectoryNode(
    reply[0] as Buffer,
    transformOf(reply[1] as Buffer),
    state,
    request.at.path === '/',
  );
  const paths: string[] = [];
  const listings: Listing[] = [];
  for (const one of reply.slice(2) as readonly Reply[]) {
    const parent = Number(one[0]);
    const name = (one[1] as Buffer).toString('utf8');
    const path = parent < 0 ? '' : paths[parent] === '' ? name : `${paths[parent]}/${name}`;
    paths.push(path);
    const { names, nodes } = sortRows(readBuckets(one, 4, state));
    const bodies = one[3] as readonly Buffer[];
    listings.push(
      bodies.length === 0
        ? { path, names, nodes }
        : { path, names, nodes, contents: readContents(bodies, names, nodes) },
    );
  }
  return { directory, listings };
}

function readContents(bodies: readonly Buffer[], names: readonly string[], nodes: readonly NodeRecord[]): Uint8Array[] {
  const at = new Map(names.map((name, i) => [name, i]));
  const contents: Uint8Array[] = [];
  for (let i = 0; i + 1 < bodies.length; i += 2) {
    const index = at.get((bodies[i] as Buffer).toString('utf8'));
    if (index === undefined) throw corruptReply('a listing');
    const { size } = nodes[index] as NodeRecord;
    if (size > CHUNK_BYTES) throw corruptReply('a content that ends too early');
    const content = new Uint8Array(size);
    readChunks([bodies[i + 1] as Buffer], content, 0, content.length);
    contents[index] = content;
  }
  return contents;
}

export function transformOf(bytes: Buffer): Transform | undefined {
  return bytes.length === 0 ? undefined : bytes;
}

function bytesAt(parts: readonly Buffer[], at: number): Buffer {
  const bytes = parts[at];
  if (!Buffer.isBuffer(bytes)) throw corruptReply('a reply that ends too early');
  return bytes;
}
