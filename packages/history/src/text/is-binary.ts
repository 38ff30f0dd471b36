/** The same as in git (FIRST_FEW_BYTES in xdiff-interface.c). */
const BINARY_PROBE_BYTES = 8_000;

/** Applies git's rule: a content is binary if it has a NUL near the beginning. */
export function isBinary(content: Uint8Array): boolean {
  return content.subarray(0, BINARY_PROBE_BYTES).includes(0);
}
