/** Bytes at the start of a content that are searched for NUL, as in git (`FIRST_FEW_BYTES` in xdiff-interface.c). */
const BINARY_PROBE_BYTES = 8_000;

/** Reports whether a content is binary by git's rule: it has a NUL in its first 8,000 bytes. */
export function isBinary(content: Uint8Array): boolean {
  return content.subarray(0, BINARY_PROBE_BYTES).includes(0);
}
