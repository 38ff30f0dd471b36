import { StorageError } from '../errors.js';

/** Returns the error for bytes that are not a snapshot, or a damaged one. */
export function corrupt(what: string, cause?: unknown): StorageError {
  return new StorageError('corrupt', `The snapshot is damaged: ${what}`, cause === undefined ? {} : { cause });
}
