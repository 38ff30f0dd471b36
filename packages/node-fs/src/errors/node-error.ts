import { FsError, isFsError, isStorageError, type StorageErrorKind } from '@scratchfs/core';
import { coded } from './argument-errors.js';

/** Call details in Node's errors, besides the code. */
export interface Blame {
  readonly syscall?: string | undefined;
  readonly path?: string | undefined;
  readonly dest?: string | undefined;
}

/** Calls on an open file: Node names no path in their errors. */
const ON_DESCRIPTORS = new Set(['read', 'write', 'close', 'fstat', 'fchmod', 'fchown', 'futime', 'ftruncate', 'fsync']);

/** System calls that Node names differently. */
const SYSCALLS: Readonly<Record<string, string>> = { truncate: 'ftruncate' };

const IO_ERROR = { errno: -5, code: 'EIO', reason: 'i/o error' };

/** Errors of Node for kinds of storage failures; all other kinds are {@link IO_ERROR}. */
const STORAGE_FAILURES: ReadonlyMap<StorageErrorKind, typeof IO_ERROR> = new Map([
  ['full', { errno: -28, code: 'ENOSPC', reason: 'no space left on device' }],
  ['denied', { errno: -13, code: 'EACCES', reason: 'permission denied' }],
]);

/**
 * Converts a filesystem error to the one that Node throws: an `Error` with errno, code, syscall, path and dest, in this
 * order. An error that says more than Node's (a limit, a hint) becomes its `cause`; a storage failure is ENOSPC, EACCES
 * or EIO. A file too large to read is a RangeError, as in Node. Other values are returned unchanged.
 */
export function nodeError(error: unknown, blame?: Blame): unknown {
  if (isFsError(error)) return fromFsError(error, blame);
  if (isStorageError(error)) {
    const { syscall, path } = blame ?? {};
    const place = [syscall, path === undefined ? undefined : `'${path}'`]
      .filter((part) => part !== undefined)
      .join(' ');
    const { errno, code, reason } = STORAGE_FAILURES.get(error.kind) ?? IO_ERROR;
    const message = `${code}: ${reason}${place === '' ? '' : `, ${place}`}`;
    return Object.assign(new Error(message, { cause: error }), { errno, code }, blame);
  }
  return error;
}

function fromFsError(error: FsError, blame: Blame | undefined): Error {
  if (error.code === 'EFBIG' && error.syscall === 'read') return tooLarge(error);
  const { syscall, path, dest } = blame ?? fieldsOf(error);
  const isSame = syscall === error.syscall && path === error.path && dest === error.dest;
  const message = isSame ? withoutHint(error) : new FsError(error.code, { syscall, path, dest }).message;
  const says = error.hint !== undefined || error.limit !== undefined;
  const result = new Error(message, says ? { cause: error } : undefined) as Error & Record<string, unknown>;
  result['errno'] = error.errno;
  result['code'] = error.code;
  if (syscall !== undefined) result['syscall'] = syscall;
  if (path !== undefined) result['path'] = path;
  if (dest !== undefined) result['dest'] = dest;
  return result;
}

function fieldsOf(error: FsError): Blame {
  const syscall = error.syscall === undefined ? undefined : (SYSCALLS[error.syscall] ?? error.syscall);
  return syscall !== undefined && ON_DESCRIPTORS.has(syscall)
    ? { syscall }
    : { syscall, path: error.path, dest: error.dest };
}

function withoutHint({ message, hint }: FsError): string {
  return hint === undefined ? message : message.slice(0, -hint.length - 2);
}

function tooLarge(error: FsError): Error {
  return coded(new RangeError(`File size (${error.requested}) is greater than 2 GiB`), 'ERR_FS_FILE_TOO_LARGE');
}

/** Returns the error of a call whose signal is aborted. */
export function abortError(signal: { readonly reason?: unknown }): Error {
  const error = new Error('The operation was aborted', { cause: signal.reason });
  return Object.assign(error, { code: 'ABORT_ERR', name: 'AbortError' });
}
