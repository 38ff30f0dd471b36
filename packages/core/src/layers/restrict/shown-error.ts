import { FsError, isFsError, isStorageError, OutcomeUnknownError, StorageError } from '../../errors.js';
import { hideUse } from './hide-use.js';

/**
 * Returns an error without anything that the caller must not see: a path is one of the caller's arguments, or visible;
 * else it becomes the caller's own. Causes are dropped, and texts that name something else. Returns the same error if
 * there is nothing to drop.
 */
export function shownError(error: unknown, args: readonly unknown[], isVisible: (path: string) => boolean): unknown {
  const own = args.filter((arg) => typeof arg === 'string');
  const isShown = (path: string): boolean => own.includes(path) || isVisible(path);
  const isClean = (text: string | undefined): boolean => namesIn(text ?? '').every(isShown);
  if (isFsError(error)) return hideUse(plainFsError(error, own, isShown, isClean));
  if (isStorageError(error)) return plainStorageError(error, isClean);
  if (error instanceof TypeError) return error.cause === undefined ? error : new TypeError(error.message);
  if (error instanceof RangeError) return error.cause === undefined ? error : new RangeError(error.message);
  if (error instanceof Error ? isPlain(error, isClean) : typeof error !== 'string' || isClean(error)) return error;
  return new StorageError('unavailable', UNNAMED, { retryable: false });
}

function plainFsError(
  error: FsError,
  own: readonly string[],
  isShown: (path: string) => boolean,
  isClean: (text: string | undefined) => boolean,
): FsError {
  const { code, syscall, limit, used, requested, allowed } = error;
  const path = error.path === undefined || isShown(error.path) ? error.path : own[0];
  const dest = error.dest === undefined || isShown(error.dest) ? error.dest : own[1];
  // The hints of an edit quote the edited file, which the caller may read.
  const hint = syscall === 'edit' || isClean(error.hint) ? error.hint : undefined;
  const isSame = path === error.path && dest === error.dest && hint === error.hint && error.cause === undefined;
  if (isSame && (error.constructor === FsError || isPlain(error, isClean))) return error;
  return new FsError(code, { syscall, path, dest, hint, limit, used, requested, allowed });
}

function plainStorageError(error: StorageError, isClean: (text: string) => boolean): StorageError {
  const { kind, message, retryable, mayHaveHappened, cause } = error;
  if (error instanceof OutcomeUnknownError)
    return cause === undefined ? error : new OutcomeUnknownError(error.operationId);
  if (cause === undefined && error.constructor === StorageError && isClean(message)) return error;
  return new StorageError(kind, isClean(message) ? message : UNNAMED, { retryable, mayHaveHappened });
}

/** Reports whether no field of an error names anything. The stack repeats the message. */
function isPlain(error: Error, isClean: (text: string) => boolean): boolean {
  const fields = Object.entries(Object.getOwnPropertyDescriptors(error)).filter(([key]) => key !== 'stack');
  return fields.every(([, { value }]) => textsIn(value).every(isClean)) && isClean(error.message);
}

/** Returns all texts in a value. Another error, and what lies too deep, counts as a path. */
function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (value instanceof Error || depth > MAX_FIELD_DEPTH) return [UNKNOWN_PATH];
  return Object.values(value).flatMap((field) => textsIn(field, depth + 1));
}

/** Returns what may be a name in a text: everything in quotes and every path. */
function namesIn(text: string): string[] {
  const found = text.matchAll(/'([^']+)'|"([^"]+)"|([/\\][^\s'",;:)]+)/g);
  return Array.from(found, ([, single, double, path]) => single ?? double ?? path ?? '');
}

const UNNAMED =
  'The storage failed; the reason is shown without the restriction only, because it may name what is hidden';
const MAX_FIELD_DEPTH = 4;
const UNKNOWN_PATH = '/…';
