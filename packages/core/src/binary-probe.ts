/** Bytes at the start of a file whose NUL makes it binary, as in git (`FIRST_FEW_BYTES` of its xdiff-interface.c). */
export const BINARY_PROBE_BYTES = 8_000;
