import { unlink } from 'node:fs/promises';
import { isStorageError, StorageError, type StorageErrorKind } from '@scratchfs/core';

const KINDS: Readonly<Record<string, StorageErrorKind>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EFBIG: 'full',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
};

const HINTS: Partial<Record<StorageErrorKind, string>> = {
  full: 'free some space and try again',
  denied: 'check the owner and the mode of the directory',
};

/** Errors of a request that was refused before it could change anything. */
const REFUSED = new Set(['EMFILE', 'ENFILE', 'EAGAIN', ...Object.keys(KINDS)]);

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException | undefined)?.code ?? '');
}

/** Removes a file; a missing one is ignored. */
export async function unlinkIfPresent(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });
}

/**
 * Converts an error of the disk; a StorageError and an error without a code stay as they are. After a code of `REFUSED`
 * the request has not happened.
 */
export function toStorageError(error: unknown): unknown {
  if (isStorageError(error)) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  if (syscall === 'link' && (code === 'EPERM' || code === 'ENOTSUP' || code === 'EOPNOTSUPP'))
    return new StorageError('unsupported', 'The disk has no hard links, which this storage needs: use another disk', {
      cause: error,
    });
  const kind = KINDS[code] ?? 'unavailable';
  const hint = HINTS[kind];
  return new StorageError(kind, `The disk failed: ${syscall ?? 'a call'} returned ${code}${hint ? `; ${hint}` : ''}`, {
    cause: error,
    mayHaveHappened: !REFUSED.has(code),
  });
}
