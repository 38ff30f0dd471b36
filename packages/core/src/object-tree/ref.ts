import { xxh32 } from '../snapshot/xxh32.js';

/** Location of bytes, and the hash to verify them. */
export interface Ref {
  readonly object: string;
  readonly offset: number;
  readonly length: number;
  /** XXH32 of the bytes. */
  readonly hash: number;
}

export function refKey(ref: Ref): string {
  return `${ref.object}@${ref.offset}`;
}

export function isWhole(ref: Ref, bytes: Uint8Array): boolean {
  return bytes.length === ref.length && xxh32(bytes) === ref.hash;
}

export function hashOf(bytes: Uint8Array): number {
  return xxh32(bytes);
}

/** Thrown by synchronous code that needs bytes that are not loaded. */
export class BytesNotLoaded {
  constructor(
    readonly refs: readonly Ref[],
    /** Bytes that are useful but not necessary: the work continues if they are unreadable. */
    readonly optional: readonly Ref[] = [],
  ) {}
}
