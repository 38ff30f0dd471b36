import type { Facts, Listing, NodeFact, Want } from '@scratchfs/core';
import { readBucket } from '../stored/bucket.js';
import { CHUNK_BYTES, readChunk } from '../stored/chunk.js';
import { RECORD_BYTES } from '../stored/record.js';
import type { Transform } from '../stored/transform.js';
import { corrupt, directoryFact, recordFact, type State } from './nodes.js';
import { type Rows, sortRows } from './sorted-rows.js';

/** An answer of a script, or of the load script to one want: bytes or text, and lists of them. */
export type Answer = readonly (Buffer | string | readonly Buffer[] | Answer)[];

export function isGone(answer: Answer): boolean {
  return answer.length === 1 && Buffer.isBuffer(answer[0]) && answer[0].toString('latin1') === 'gone';
}

export function pathFacts(answer: Answer, state: State): Extract<Facts, { kind: 'path' }> {
  const parts = answer as readonly Buffer[];
  const nodes: (NodeFact | null)[] = [directoryFact(bytesAt(parts, 0), undefined, state, true)];
  let at = 1;
  while (at < parts.length && parts[at]?.toString('latin1') !== 'content') {
    const record = bytesAt(parts, at);
    if (record.length === 0) {
      nodes.push(null);
      return { kind: 'path', nodes };
    }
    nodes.push(recordFact(record, 0, transformOf(bytesAt(parts, at + 1)), bytesAt(parts, at + 2), state));
    at += 3;
  }
  if (at >= parts.length) return { kind: 'path', nodes };
  const last = nodes.at(-1) as NodeFact;
  const content = new Uint8Array(last.size);
  readChunks(parts.slice(at + 1), content, 0, last.size);
  return { kind: 'path', nodes, content };
}

/** Puts the chunks of a content, the first of which begins at `start`, into an array that begins at `from`. */
export function readChunks(chunks: readonly Buffer[], into: Uint8Array, start: number, size: number, from = 0): void {
  chunks.forEach((chunk, i) => {
    const at = start + i * CHUNK_BYTES;
    const length = Math.min(CHUNK_BYTES, size - at);
    if (chunk.length === 0 || length <= 0) return;
    const whole = at >= from && at + length <= from + into.length;
    const target = whole ? into.subarray(at - from, at - from + length) : new Uint8Array(length);
    if (!readChunk(chunk, target)) throw corrupt('a piece of content');
    if (whole) return;
    const first = Math.max(at, from);
    const end = Math.min(at + length, from + into.length);
    if (end > first) into.set(target.subarray(first - at, end - at), first - from);
  });
}

/** Reads buckets that stand one after the other from a position, in no order: bytes, transform, what is beside their records. */
export function readBuckets(answer: Answer, from: number, state: State): Rows {
  const names: string[] = [];
  const nodes: NodeFact[] = [];
  for (let i = from; i + 2 < answer.length; i += 3) {
    const bytes = answer[i] as Buffer;
    const transform = transformOf(answer[i + 1] as Buffer);
    const beside = answer[i + 2] as readonly Buffer[];
    const bucket = readBucket(bytes);
    if (bucket === undefined) throw corrupt('a listing');
    let next = 0;
    // What comes beside a record is its bytes alone; a file's record needs nothing.
    bucket.names.forEach((name, index) => {
      const at = bucket.records + index * RECORD_BYTES;
      const isFile = bytes[at] === 0x66;
      const extra = isFile ? EMPTY : (beside[next++] ?? EMPTY);
      names.push(name);
      nodes.push(recordFact(bytes, at, transform, extra, state));
    });
  }
  return { names, nodes };
}

const EMPTY = Buffer.alloc(0);

/** A directory, and the listings of it and of what is beneath it, as far as an answer has them. */
export function treeFacts(
  answer: Answer,
  state: State,
  want: Extract<Want, { kind: 'tree' }>,
): { readonly directory: NodeFact; readonly listings: Listing[] } {
  const directory = directoryFact(answer[0] as Buffer, transformOf(answer[1] as Buffer), state, want.at.path === '/');
  const paths: string[] = [];
  const listings: Listing[] = [];
  for (const one of answer.slice(2) as readonly Answer[]) {
    const parent = Number(one[0]);
    const name = (one[1] as Buffer).toString('utf8');
    const path = parent < 0 ? '' : paths[parent] === '' ? name : `${paths[parent]}/${name}`;
    paths.push(path);
    const { names, nodes } = sortRows(readBuckets(one, 4, state));
    const bodies = one[3] as readonly Buffer[];
    listings.push(
      bodies.length === 0 ? { path, names, nodes } : { path, names, nodes, contents: contentsOf(bodies, names, nodes) },
    );
  }
  return { directory, listings };
}

function contentsOf(bodies: readonly Buffer[], names: readonly string[], nodes: readonly NodeFact[]): Uint8Array[] {
  const at = new Map(names.map((name, i) => [name, i]));
  const contents: Uint8Array[] = [];
  for (let i = 0; i + 1 < bodies.length; i += 2) {
    const index = at.get((bodies[i] as Buffer).toString('utf8'));
    if (index === undefined) throw corrupt('a listing');
    const content = new Uint8Array((nodes[index] as NodeFact).size);
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
  if (bytes === undefined) throw corrupt('an answer that ends too early');
  return bytes;
}
