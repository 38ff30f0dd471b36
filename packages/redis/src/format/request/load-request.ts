import { type LoadRequest, pathSegments } from '@scratchfs/core';
import { CHUNK_BYTES } from '../stored/chunk.js';
import type { Writer } from './writer.js';

const KINDS = { path: 1, list: 2, tree: 3, content: 4 } as const;

/** Encodes a load request. `from` is the bucket or chunk at which a listing or a content continues. */
export function writeLoadRequest(want: LoadRequest, from: number, into: Writer): void {
  into.u8(KINDS[want.kind]);
  const names = pathSegments(want.kind === 'path' ? want.path : want.at.path);
  into.u16(names.length);
  for (const name of names) into.name(name);
  into.shortText(want.kind === 'path' ? '' : String(want.at.id));
  const [a, b] = numbersOf(want, from);
  into.double(a);
  into.double(b);
}

function numbersOf(want: LoadRequest, from: number): readonly [number, number] {
  if (want.kind === 'path') return [want.content, 0];
  if (want.kind === 'list') return [from, 0];
  if (want.kind === 'tree') return [want.budget, want.contents ? 1 : 0];
  return [from, Math.ceil((want.offset + want.length) / CHUNK_BYTES)];
}
