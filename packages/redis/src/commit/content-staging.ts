import type { Part, Write } from '@scratchfs/core';
import type { Session } from '../connection/client-session.js';
import { type Staged, writeContent } from '../format/request/batch.js';
import { Contents } from '../format/request/chunk-arguments.js';
import { Writer } from '../format/request/writer.js';
import { CHUNK_BYTES } from '../format/stored/chunk.js';
import { scripts } from '../lua/scripts.js';

/** A content with more bytes goes ahead of its commit. */
const STAGED_BYTES = 262_144;
/** Bytes of one request; while the server has one, the next one is made and sent. */
const REQUEST_BYTES = 4 * CHUNK_BYTES;
/** How long what was sent ahead is kept for a commit that does not come. */
export const STAGED_MS = 300_000;

/** Bytes that a write brings. */
export function bytesOf(write: Write): number {
  if (write.kind === 'create') return write.content?.byteLength ?? 0;
  return write.kind === 'write' ? write.parts.reduce((sum, part) => sum + part.bytes.byteLength, 0) : 0;
}

let numbers = 0;

/** A field of the head that no other client uses. */
export function ownField(session: Session, letter: string): string {
  numbers += 1;
  return `${letter}/${session.client}/${numbers}`;
}

/**
 * Sends the whole chunks of large contents ahead, under names that nobody reads. The commit only refers to them. What has
 * been made is added to `lent`, also where it fails.
 * @throws StorageError; the signal's reason
 */
export async function stageContents(
  session: Session,
  field: string,
  writes: readonly Write[],
  lent: string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Write, Staged>> {
  const staged = new Map<Write, Staged>();
  for (const write of writes) {
    const range = stagedRange(write);
    if (range === undefined) continue;
    const key = ownField(session, 'g');
    try {
      await stage(session, field, key, range, signal);
    } finally {
      lent.push(key);
    }
    staged.set(write, { key, from: range.from, to: range.to });
  }
  return staged;
}

interface Range {
  readonly size: number;
  readonly part: Part;
  /** Chunks that the part fills wholly, or up to the end of the file. */
  readonly from: number;
  readonly to: number;
}

function stagedRange(write: Write): Range | undefined {
  if (bytesOf(write) <= STAGED_BYTES) return undefined;
  if (write.kind === 'create') return rangeOf(bytesOf(write), { offset: 0, bytes: write.content as Uint8Array });
  const [part, more] = write.kind === 'write' ? write.parts : [];
  if (write.kind !== 'write' || part === undefined || more !== undefined) return undefined;
  return rangeOf(write.size, part);
}

function rangeOf(size: number, part: Part): Range | undefined {
  const end = part.offset + part.bytes.byteLength;
  const from = Math.ceil(part.offset / CHUNK_BYTES);
  const to = end >= size ? Math.ceil(size / CHUNK_BYTES) : Math.floor(end / CHUNK_BYTES);
  return to > from ? { size, part, from, to } : undefined;
}

async function stage(
  session: Session,
  field: string,
  key: string,
  { size, part, from, to }: Range,
  signal: AbortSignal,
): Promise<void> {
  const end = Math.min(to * CHUNK_BYTES, size);
  let before: Promise<unknown> | undefined;
  let sent: Promise<unknown> | undefined;
  try {
    for (let at = from * CHUNK_BYTES; at < end; at += REQUEST_BYTES) {
      signal.throwIfAborted();
      const bytes = part.bytes.subarray(at - part.offset, Math.min(at + REQUEST_BYTES, end) - part.offset);
      const [content, contents] = [new Writer(), new Contents()];
      writeContent(size, [{ offset: at, bytes }], undefined, content, contents);
      sent = session.run(scripts.stage, field, [key, STAGED_MS, ...contents.chunks], { body: content });
      // Where the one before fails, nobody waits for this one.
      sent.catch(() => {});
      await before;
      before = sent;
    }
    await before;
  } finally {
    // What has not arrived yet would make the field again after it was given back.
    await Promise.allSettled([before, sent]);
  }
}
