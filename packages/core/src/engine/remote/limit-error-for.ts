import type { CommitResult, Write } from '../../backend.js';
import type { FsError } from '../../errors.js';
import { limitError } from '../view/limit-error.js';

/** Returns the error for a batch that a backend refused; `writes` determine the path. */
export function limitErrorFor(result: Extract<CommitResult, { kind: 'limit' }>, writes: readonly Write[]): FsError {
  const last = writes.find((write) => 'path' in write && write.kind !== 'touch');
  const path = last !== undefined && 'path' in last ? last.path : '/';
  const code = result.limit === 'maxFileSize' ? 'EFBIG' : 'ENOSPC';
  return limitError(code, result.limit, result.used, result.requested, result.allowed, 'write', path);
}
