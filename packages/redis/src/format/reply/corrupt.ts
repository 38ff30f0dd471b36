import { StorageError } from '@scratchfs/core';

/** Returns the error for a reply that does not have the expected form. */
export function corruptReply(what: string): StorageError {
  return new StorageError('corrupt', `The server's reply is not what a client has stored: ${what}`);
}
