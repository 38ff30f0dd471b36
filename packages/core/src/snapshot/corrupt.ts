import { StorageError } from '../errors.js';

/** The refusal of bytes that are no snapshot, or not one any more. */
export function corrupt(what: string, cause?: unknown): StorageError {
  return new StorageError('corrupt', `The snapshot is damaged: ${what}`, cause === undefined ? {} : { cause });
}
