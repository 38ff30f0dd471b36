import { sha1 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { Unzlib, zlibSync } from 'fflate';
import { HistoryError } from './errors.js';
import type { ObjectFormat } from './object-id.js';

export interface Hasher {
  update(bytes: Uint8Array): void;
  digest(): Uint8Array;
}

/** Hashing and zlib, which a platform may have faster implementations of. The defaults need nothing of Node. */
export interface Primitives {
  hasher(format: ObjectFormat): Hasher;
  /** Returns a zlib stream (RFC 1950). */
  deflate(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** Returns the content of a zlib stream. @throws HistoryError `corrupt`, or `too-large` above `limit` bytes */
  inflate(bytes: Uint8Array, limit: number): Uint8Array | Promise<Uint8Array>;
}

/** From this size on, the platform's own streams are worth their overhead and keep the event loop free. */
const MIN_STREAMED_BYTES = 65_536;
/** Bytes to pass to the decompressor at a time. Its output is at most about a thousand times as long. */
const INPUT_STEP_BYTES = 4_096;

export const portablePrimitives: Primitives = {
  hasher(format) {
    const hash = (format === 'sha1' ? sha1 : sha256).create();
    return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() };
  },
  deflate(bytes) {
    if (bytes.length < MIN_STREAMED_BYTES) return zlibSync(bytes, { level: 6 });
    return collect(through(bytes, new CompressionStream('deflate')), Number.POSITIVE_INFINITY);
  },
  inflate(bytes, limit) {
    if (bytes.length < MIN_STREAMED_BYTES) return inflateSmall(bytes, limit);
    return collect(through(bytes, new DecompressionStream('deflate')), limit);
  },
};

function inflateSmall(bytes: Uint8Array, limit: number): Uint8Array {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let ended = false;
  const stream = new Unzlib((chunk, final) => {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
    ended ||= final;
  });
  try {
    for (let at = 0; at < bytes.length; at += INPUT_STEP_BYTES)
      stream.push(bytes.subarray(at, at + INPUT_STEP_BYTES), at + INPUT_STEP_BYTES >= bytes.length);
  } catch (cause) {
    throw cause instanceof HistoryError ? cause : damaged(cause);
  }
  if (!ended) throw damaged();
  return concat(chunks, size);
}

function through(bytes: Uint8Array, transform: CompressionStream | DecompressionStream): ReadableStream<Uint8Array> {
  return new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(transform);
}

async function collect(stream: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { value, done } = await reader.read().catch((cause: unknown) => {
      throw damaged(cause);
    });
    if (done) return concat(chunks, size);
    size += value.length;
    if (size > limit) {
      await reader.cancel().catch(() => undefined);
      throw tooLarge(limit);
    }
    chunks.push(value);
  }
}

function damaged(cause?: unknown): HistoryError {
  return new HistoryError('corrupt', 'A compressed object is damaged or truncated', { cause });
}

function tooLarge(limit: number): HistoryError {
  return new HistoryError('too-large', `An object unpacks to more than ${limit} bytes`);
}

export function concat(parts: readonly Uint8Array[], size = parts.reduce((sum, part) => sum + part.length, 0)) {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
