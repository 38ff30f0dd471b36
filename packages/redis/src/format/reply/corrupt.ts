import { StorageError } from '@scratchfs/core';

/** Returns the error for a reply that does not have the expected form. */
export function corruptReply(what: string): StorageError {
  return new StorageError('corrupt', `The server answered with something else than was stored: ${what}`);
}
