import type { Steps } from '../engine/scheduling/time-slice.js';
import { corrupt } from './corrupt.js';

/** Bytes copied at the call, in one go: some 20 ms where memory is slow. */
const MAX_IMMEDIATE_COPY_BYTES = 16 * 2 ** 20;
/** Bytes copied between two yields. */
const SLICE_BYTES = 2 ** 20;

/**
 * A copy of a snapshot's bytes: the first 16 MiB at the call, the rest in steps. What changes meanwhile is not what the
 * checksums in the copy say, so that it is found out where the copy is read.
 */
export function copySteps(bytes: Uint8Array): Steps<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.length);
  copy.set(bytes.subarray(0, MAX_IMMEDIATE_COPY_BYTES));
  return copyRest(bytes, copy);
}

function* copyRest(bytes: Uint8Array, copy: Uint8Array<ArrayBuffer>): Steps<Uint8Array<ArrayBuffer>> {
  for (let at = MAX_IMMEDIATE_COPY_BYTES; at < copy.length; at += SLICE_BYTES) {
    yield;
    // Of a transferred or resized array nothing, or too little, is left.
    if (bytes.length !== copy.length) throw corrupt('its bytes were taken away while it was read');
    copy.set(bytes.subarray(at, at + SLICE_BYTES), at);
  }
  return copy;
}
