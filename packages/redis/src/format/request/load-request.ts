import { type LoadRequest, pathSegments } from '@scratchfs/core';
import { CHUNK_BYTES } from '../stored/chunk.js';
import type { Writer } from './writer.js';

const KINDS = { path: 1, list: 2, tree: 3, content: 4 } as const;

/** Encodes a load request. `from` is the bucket or chunk at which a listing or a content continues. */
export function writeLoadRequest(request: LoadRequest, from: number, into: Writer): void {
  into.u8(KINDS[request.kind]);
  const names = pathSegments(request.kind === 'path' ? request.path : request.at.path);
  into.u16(names.length);
  for (const name of names) into.name(name);
  into.shortText(request.kind === 'path' ? '' : String(request.at.id));
  const [a, b] = numbersOf(request, from);
  into.double(a);
  into.double(b);
}

function numbersOf(request: LoadRequest, from: number): readonly [number, number] {
  if (request.kind === 'path') return [request.content, 0];
  if (request.kind === 'list') return [from, 0];
  if (request.kind === 'tree') return [request.budget, request.contents ? 1 : 0];
  return [from, Math.ceil((request.offset + request.length) / CHUNK_BYTES)];
}
