import { isStorageError, StorageError } from '@scratchfs/core';

/**
 * Returns the error for a reply that does not have the expected form.
 * @param mayHaveHappened true if the request may have changed something nevertheless
 */
export function corruptReply(what: string, mayHaveHappened = false, cause?: unknown): StorageError {
  const message = `The server's reply is not what a client has stored: ${what}`;
  return new StorageError('corrupt', message, { mayHaveHappened, cause });
}

/** Converts a TypeError or RangeError of a decoder to a `StorageError`. Returns any other error as it is. */
export function decodingError(error: unknown, mayHaveHappened = false): unknown {
  if (isStorageError(error) || !(error instanceof TypeError || error instanceof RangeError)) return error;
  return corruptReply('a reply of another form', mayHaveHappened, error);
}

/** Decodes a whole number from 0 on. @throws StorageError */
export function wholeNumber(text: unknown, what: string, mayHaveHappened = false): number {
  const number = typeof text === 'string' && text !== '' ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(number) || number < 0) throw corruptReply(what, mayHaveHappened);
  return number;
}
