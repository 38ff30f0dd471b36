import { FsError } from '@scratchfs/core';

/** The refusal of an archive: nothing of it has been unpacked. */
export function archiveError(name: string | undefined, hint: string, cause?: unknown): FsError {
  return new FsError('EINVAL', { syscall: 'untar', path: name, hint: `${hint}. Nothing was unpacked`, cause });
}
