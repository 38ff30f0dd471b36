/** As in git (FIRST_FEW_BYTES of its xdiff-interface.c). */
const BINARY_PROBE_BYTES = 8_000;

/** git's rule: a NUL near the beginning. */
export function isBinary(content: Uint8Array): boolean {
  return content.subarray(0, BINARY_PROBE_BYTES).includes(0);
}
