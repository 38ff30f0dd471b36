import { FsError } from '../../errors.js';

/** Maximum bytes of a file, holes included: 8 TiB. */
export const MAX_FILE_SIZE = 2 ** 43;

export function limitError(
  code: 'ENOSPC' | 'EFBIG',
  limit: string,
  used: number,
  requested: number,
  allowed: number,
  syscall: string,
  path: string,
): FsError {
  const unit = limit === 'maxNodeCount' ? 'entries' : limit === 'maxCheckpoints' ? 'checkpoints' : 'bytes';
  const hint = `The limit ${limit} is ${allowed} ${unit}; ${used} are in use and this would make ${requested}`;
  return new FsError(code, { syscall, path, limit, used, requested, allowed, hint });
}
