import type { Steps } from '../engine/scheduling/time-slice.js';
import { corrupt } from './corrupt.js';

/** Maximum bytes that are copied synchronously, within the call: about 20 ms on slow memory. */
const MAX_IMMEDIATE_COPY_BYTES = 16 * 2 ** 20;
/** Bytes copied between two yields. */
const SLICE_BYTES = 2 ** 20;

/**
 * Copies a snapshot's bytes: the first 16 MiB at the call, the rest in steps. A change that reaches the copy
 * contradicts its checksums, so reading the copy detects it.
 */
export function copySteps(bytes: Uint8Array): Steps<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.length);
  copy.set(bytes.subarray(0, MAX_IMMEDIATE_COPY_BYTES));
  return copyRest(bytes, copy);
}

function* copyRest(bytes: Uint8Array, copy: Uint8Array<ArrayBuffer>): Steps<Uint8Array<ArrayBuffer>> {
  for (let at = MAX_IMMEDIATE_COPY_BYTES; at < copy.length; at += SLICE_BYTES) {
    yield;
    // A transferred or resized array has another length.
    if (bytes.length !== copy.length) throw corrupt('its bytes were taken away while it was read');
    copy.set(bytes.subarray(at, at + SLICE_BYTES), at);
  }
  return copy;
}
