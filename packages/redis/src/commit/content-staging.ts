import type { Part, Write } from '@scratchfs/core';
import type { ClientSession } from '../connection/client-session.js';
import { type StagedContent, writeContent } from '../format/request/batch.js';
import { ChunkArguments } from '../format/request/chunk-arguments.js';
import { Writer } from '../format/request/writer.js';
import { CHUNK_BYTES } from '../format/stored/chunk.js';
import { scripts } from '../lua/scripts.js';

/** Bytes above which `stageContents` uploads a content that consists of one part. */
const MAX_INLINE_CONTENT_BYTES = 262_144;
/** Bytes of content per upload request. While the server stores one, the client encodes and sends the next. */
const STAGING_REQUEST_BYTES = 4 * CHUNK_BYTES;
/** Milliseconds after which the server may delete uploads and staged states that no commit has used. */
export const STAGING_LEASE_MS = 300_000;

/** Returns the number of content bytes that a write carries. */
export function contentBytesOf(write: Write): number {
  if (write.kind === 'create') return write.content?.byteLength ?? 0;
  return write.kind === 'write' ? write.parts.reduce((sum, part) => sum + part.bytes.byteLength, 0) : 0;
}

/**
 * Uploads the whole chunks of large contents under private fields of the head, to which the commit then refers.
 * @param ownedFields receives the fields that were created, even if the upload fails
 * @throws StorageError; the signal's reason
 */
export async function stageContents(
  session: ClientSession,
  field: string,
  writes: readonly Write[],
  ownedFields: string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Write, StagedContent>> {
  const staged = new Map<Write, StagedContent>();
  for (const write of writes) {
    const range = rangeToStage(write);
    if (range === undefined) continue;
    const key = session.uniqueField('g');
    try {
      await uploadRange(session, field, key, range, signal);
    } finally {
      ownedFields.push(key);
    }
    staged.set(write, { key, from: range.from, to: range.to });
  }
  return staged;
}

interface ChunkRange {
  /** Size of the whole file. */
  readonly size: number;
  readonly part: Part;
  /** Chunks `from` to `to - 1`: those that the part fills completely, or up to the end of the file. */
  readonly from: number;
  readonly to: number;
}

function rangeToStage(write: Write): ChunkRange | undefined {
  if (contentBytesOf(write) <= MAX_INLINE_CONTENT_BYTES) return undefined;
  if (write.kind === 'create')
    return wholeChunksOf(contentBytesOf(write), { offset: 0, bytes: write.content as Uint8Array });
  const [part, more] = write.kind === 'write' ? write.parts : [];
  if (write.kind !== 'write' || part === undefined || more !== undefined) return undefined;
  return wholeChunksOf(write.size, part);
}

function wholeChunksOf(size: number, part: Part): ChunkRange | undefined {
  const end = part.offset + part.bytes.byteLength;
  const from = Math.ceil(part.offset / CHUNK_BYTES);
  const to = end >= size ? Math.ceil(size / CHUNK_BYTES) : Math.floor(end / CHUNK_BYTES);
  return to > from ? { size, part, from, to } : undefined;
}

async function uploadRange(
  session: ClientSession,
  field: string,
  key: string,
  { size, part, from, to }: ChunkRange,
  signal: AbortSignal,
): Promise<void> {
  const end = Math.min(to * CHUNK_BYTES, size);
  let previous: Promise<unknown> | undefined;
  let current: Promise<unknown> | undefined;
  try {
    for (let at = from * CHUNK_BYTES; at < end; at += STAGING_REQUEST_BYTES) {
      signal.throwIfAborted();
      const bytes = part.bytes.subarray(at - part.offset, Math.min(at + STAGING_REQUEST_BYTES, end) - part.offset);
      const [content, pieces] = [new Writer(), new ChunkArguments()];
      writeContent(size, [{ offset: at, bytes }], undefined, content, pieces);
      const args = [key, STAGING_LEASE_MS, ...pieces.chunks];
      current = session.run(scripts.stageContent, field, args, { body: content });
      // This request may fail while the previous one is awaited. That must not count as unhandled.
      current.catch(() => {});
      await previous;
      previous = current;
    }
    await previous;
  } finally {
    // A request that arrives after the field was deleted would create it again.
    await Promise.allSettled([previous, current]);
  }
}
