import { FsError, type FsErrorCode, isFsError, StorageError } from '@scratchfs/core';

const KNOWN: ReadonlySet<string> = new Set<FsErrorCode>([
  'EACCES',
  'EBUSY',
  'EEXIST',
  'EFBIG',
  'EINVAL',
  'EISDIR',
  'ELOOP',
  'EMLINK',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOSPC',
  'ENOTDIR',
  'ENOTEMPTY',
  'ENOTSUP',
  'EPERM',
  'EROFS',
  'EXDEV',
]);
const ALIKE: Readonly<Record<string, FsErrorCode>> = {
  EDQUOT: 'ENOSPC',
  ETXTBSY: 'EBUSY',
  EOPNOTSUPP: 'ENOTSUP',
  ERR_INVALID_ARG_VALUE: 'EINVAL',
};

/**
 * Returns an error of the host as an `FsError` with its code and the path inside, or as a `StorageError` if the
 * filesystem has no such code. Errors of these two classes are returned as they are. The original error is left out,
 * because its message may contain the host's path.
 */
export function hostError(error: unknown, syscall: string, path: string): Error {
  if (isFsError(error) || error instanceof StorageError) return error;
  const code = String((error as { code?: unknown } | undefined)?.code ?? '');
  const known = ALIKE[code] ?? (KNOWN.has(code) ? (code as FsErrorCode) : undefined);
  if (known !== undefined) return new FsError(known, { syscall, path });
  return new StorageError('unavailable', `The host failed at ${syscall}${code === '' ? '' : ` (${code})`}`);
}

/** Handler for `catch`: returns undefined if the path does not exist and rethrows every other error. */
export function absent(error: unknown): undefined {
  if (!isCode(error, 'ENOENT', 'ENOTDIR')) throw error;
}

export function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(String((error as { code?: unknown } | undefined)?.code ?? ''));
}

/** Reports whether a write failed for lack of permission or on a read-only disk. */
export function isUnwritable(error: unknown): boolean {
  return isCode(error, 'EACCES', 'EPERM', 'EROFS');
}
