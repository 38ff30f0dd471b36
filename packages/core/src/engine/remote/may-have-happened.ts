import { isStorageError, OutcomeUnknownError, StorageError } from '../../errors.js';

/**
 * Reports whether an error says that the request may have taken effect, so that its outcome has to be found out. False
 * for an `OutcomeUnknownError`, because nothing more can be found out.
 */
export function mayHaveHappened(error: unknown): boolean {
  return isStorageError(error) && error.mayHaveHappened && !(error instanceof OutcomeUnknownError);
}

/**
 * Returns a StorageError with the given `mayHaveHappened`. Other errors, and an `OutcomeUnknownError`, stay as they are.
 */
export function withMayHaveHappened(error: unknown, mayHaveHappened: boolean): unknown {
  if (!isStorageError(error) || error instanceof OutcomeUnknownError || error.mayHaveHappened === mayHaveHappened)
    return error;
  const { kind, message, retryable, cause } = error;
  return new StorageError(kind, message, { retryable, mayHaveHappened, cause });
}
