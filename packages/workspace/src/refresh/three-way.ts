import { mergeLines } from '../accept/three-way.js';
import type { ContentRef } from '../delta/delta-node.js';
import { ifReadable } from '../log/contents.js';
import type { Conflict } from '../operation.js';

/** git's rule for binary content: a NUL among the first 8,000 bytes. */
const BINARY_PROBE_BYTES = 8_000;

export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

/** Result of a merge: a value, or the reason for which there is none. */
export type Merged<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: Conflict['code'] };

/** Merges values that cannot be merged in parts. @param code code of the result if both sides changed the value */
export function mergeWhole<T>(base: T, ours: T, theirs: T, code: Conflict['code']): Merged<T> {
  if (ours === theirs || theirs === base) return { ok: true, value: ours };
  return ours === base ? { ok: true, value: theirs } : { ok: false, code };
}

/**
 * Merges contents, by lines if both sides changed the base. A base that is missing or damaged in the store counts as
 * binary.
 */
export async function mergeContents(
  base: ContentRef,
  ours: ContentRef,
  theirs: ContentRef,
  read: (hash: string) => Promise<Uint8Array>,
): Promise<Merged<ContentRef | Uint8Array>> {
  const whole = mergeWhole(base.hash, ours.hash, theirs.hash, 'content');
  if (whole.ok) return { ok: true, value: whole.value === ours.hash ? ours : theirs };
  const [b, o, t] = [await ifReadable(read(base.hash)), await read(ours.hash), await read(theirs.hash)];
  if (b === undefined || isBinary(b) || isBinary(o) || isBinary(t)) return { ok: false, code: 'binary' };
  const bytes = await mergeLines(b, o, t);
  return bytes === undefined ? { ok: false, code: 'content' } : { ok: true, value: bytes };
}
