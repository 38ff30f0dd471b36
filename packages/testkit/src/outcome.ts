/** The outcome of a call as comparable plain data: a value or an error code. */
export type Outcome = { readonly value: unknown } | { readonly error: string };

/**
 * Returns the name under which an error is compared: its code as in node, `storage:` and the kind of a storage failure,
 * or the name of its class, such as `TypeError`.
 */
export function errorName(error: unknown): string {
  if (typeof error !== 'object' || error === null) return `thrown:${String(error)}`;
  const { code, kind, name } = error as { code?: unknown; kind?: unknown; name?: unknown };
  if (typeof code === 'string' && /^E[A-Z0-9]+$/.test(code)) return code;
  if (typeof kind === 'string' && 'retryable' in error) return `storage:${kind}`;
  return typeof name === 'string' ? name : 'Error';
}

/** Returns bytes as comparable, printable text: short ones in full, long ones as length and hash. */
export function printBytes(bytes: Uint8Array): string {
  if (bytes.length <= 64) return `bytes:${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  return `bytes:${bytes.length}:${hashBytes(bytes)}`;
}

/** Returns two 32-bit sums in the style of FNV, enough to tell test data apart. */
export function hashBytes(bytes: Uint8Array): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let i = 0; i < bytes.length; i++) {
    a = Math.imul(a ^ (bytes[i] as number), 0x01000193) >>> 0;
    b = (Math.imul(b, 31) + (bytes[i] as number) + 1) >>> 0;
  }
  return a.toString(16).padStart(8, '0') + b.toString(16).padStart(8, '0');
}
