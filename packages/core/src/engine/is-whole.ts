import type { Write } from '../backend.js';

/** Whether nothing of a file's old content is left by a write: its one part is all that there is then. */
export function isWhole({ size, parts }: Extract<Write, { kind: 'write' }>): boolean {
  return parts.length === 1 && parts[0]?.offset === 0 && parts[0].bytes.byteLength === size;
}
