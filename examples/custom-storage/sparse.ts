import type { Part } from '@scratchfs/core';

const CHUNK = 65_536;

/** Bytes in pieces by their number; what has no piece is zeros. Never changed, only replaced. */
export interface Content {
  readonly size: number;
  readonly chunks: ReadonlyMap<number, Uint8Array>;
}

export const EMPTY: Content = { size: 0, chunks: new Map() };

/** A copy of a range, cut at the end. */
export function read({ size, chunks }: Content, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)));
  for (let at = Math.floor(offset / CHUNK); at * CHUNK < offset + bytes.length; at++) {
    const from = Math.max(offset, at * CHUNK);
    const chunk = chunks.get(at)?.subarray(from - at * CHUNK, offset + bytes.length - at * CHUNK);
    if (chunk !== undefined) bytes.set(chunk, from - offset);
  }
  return bytes;
}

/** The content cut or followed by zeros, and then written over. */
export function write(before: Content, size: number, parts: readonly Part[]): Content {
  const chunks = new Map([...before.chunks].filter(([at]) => at * CHUNK < size));
  const edge = Math.floor(size / CHUNK);
  const last = chunks.get(edge);
  // What a shorter file had behind its end must not come back when it grows.
  if (last !== undefined && size < before.size) chunks.set(edge, last.slice(0, size - edge * CHUNK));
  for (const { offset, bytes } of parts) {
    for (let at = Math.floor(offset / CHUNK); at * CHUNK < offset + bytes.length; at++) {
      const from = Math.max(offset, at * CHUNK);
      const chunk = grown(chunks.get(at), Math.min(CHUNK, offset + bytes.length - at * CHUNK));
      chunk.set(bytes.subarray(from - offset, (at + 1) * CHUNK - offset), from - at * CHUNK);
      chunks.set(at, chunk);
    }
  }
  return { size, chunks };
}

function grown(bytes: Uint8Array | undefined, length: number): Uint8Array {
  const chunk = new Uint8Array(Math.max(length, bytes?.length ?? 0));
  chunk.set(bytes ?? []);
  return chunk;
}
