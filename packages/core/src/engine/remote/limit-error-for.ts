import type { Write } from '../../backend.js';
import type { FsError } from '../../errors.js';
import { errorOfLimit, type Limited } from '../exceeded-limit.js';

/**
 * Returns the error for a batch that a limit refused, with the `path` of the first write that has one and is not a
 * `touch`, or else `/`.
 */
export function limitErrorFor(result: Limited, writes: readonly Write[]): FsError {
  const last = writes.find((write) => 'path' in write && write.kind !== 'touch');
  const path = last !== undefined && 'path' in last ? last.path : '/';
  return errorOfLimit(result, 'write', path);
}
