import { xxh32 } from '../snapshot/xxh32.js';

/** Where bytes lie, and what they must be: checked whenever they have been read. */
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

/** Thrown by synchronous code that needs bytes which are not here; never seen outside of the object tree. */
export class BytesNotLoaded {
  constructor(
    readonly refs: readonly Ref[],
    /** What is done without where it cannot be read. */
    readonly optional: readonly Ref[] = [],
  ) {}
}
