/** What a call came to, as plain data that can be compared: a value, or the code of the error. */
export type Outcome = { readonly value: unknown } | { readonly error: string };

/**
 * The name under which an error is compared: node's code; `storage:` and the kind of a storage failure; else the name of
 * its class, as `TypeError`.
 */
export function errorName(error: unknown): string {
  if (typeof error !== 'object' || error === null) return `thrown:${String(error)}`;
  const { code, kind, name } = error as { code?: unknown; kind?: unknown; name?: unknown };
  if (typeof code === 'string' && /^E[A-Z0-9]+$/.test(code)) return code;
  if (typeof kind === 'string' && 'retryable' in error) return `storage:${kind}`;
  return typeof name === 'string' ? name : 'Error';
}

/** Bytes as text that can be compared and printed: short ones whole, long ones by length and hash. */
export function printBytes(bytes: Uint8Array): string {
  if (bytes.length <= 64) return `bytes:${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  return `bytes:${bytes.length}:${hashBytes(bytes)}`;
}

/** Two 32-bit FNV-style sums: enough to tell test data apart, nothing more. */
export function hashBytes(bytes: Uint8Array): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let i = 0; i < bytes.length; i++) {
    a = Math.imul(a ^ (bytes[i] as number), 0x01000193) >>> 0;
    b = (Math.imul(b, 31) + (bytes[i] as number) + 1) >>> 0;
  }
  return a.toString(16).padStart(8, '0') + b.toString(16).padStart(8, '0');
}
