import { FsError } from '@scratchfs/core';

/** Returns the error of a refused archive: nothing of it has been unpacked. */
export function archiveError(name: string | undefined, hint: string, cause?: unknown): FsError {
  return new FsError('EINVAL', { syscall: 'untar', path: name, hint: `${hint}. Nothing was unpacked`, cause });
}
