import { isStorageError, StorageError, type StorageErrorKind } from '@scratchfs/core';

/** SQLSTATE codes, or their first characters, and what they mean. The server has rolled back the statement. */
const STATES: readonly { readonly state: RegExp; readonly kind: StorageErrorKind; readonly text: string }[] = [
  { state: /^53100$/, kind: 'full', text: 'The disk of the PostgreSQL server is full' },
  { state: /^(28|0P|0L)/, kind: 'denied', text: 'The PostgreSQL server refuses these credentials' },
  { state: /^(42501|25006)$/, kind: 'denied', text: 'The PostgreSQL server refuses this user or database to write' },
  { state: /^3D000$/, kind: 'lost', text: 'The database does not exist' },
  { state: /^(42P01|3F000)$/, kind: 'lost', text: 'The tables of the filesystem are gone' },
  // Such as a serialization failure or deadlock, a timeout of a lock or statement, too many connections, a server that
  // starts.
  { state: /^(40(?!003)|55P03|57014|53|57P03)/, kind: 'unavailable', text: 'The PostgreSQL server cannot do this now' },
];

/** Converts an error of a client. If the server has not replied, the statement may have been run. */
export function toStorageError(cause: unknown): unknown {
  if (isStorageError(cause)) return cause;
  // A mistake in the call, such as an address that cannot be parsed, is not a failure of the storage.
  if (!(cause instanceof Error) || cause instanceof TypeError || cause instanceof URIError) return cause;
  const { code } = cause as NodeJS.ErrnoException;
  const known = STATES.find(({ state }) => state.test(String(code)));
  if (known !== undefined) return new StorageError(known.kind, known.text, { mayHaveHappened: false, cause });
  // An SQLSTATE code has five characters, and in an error a digit among them, unlike EPIPE. These do not tell the
  // outcome: 08, connection exceptions; 40003, unknown outcome; 57P01, 57P02 and 57P05, the server ends the connection,
  // perhaps after the commit.
  const isReply = /^(?=.*\d)[0-9A-Z]{5}$/.test(String(code)) && !/^(08|40003|57P0[125])/.test(String(code));
  if (isReply)
    return new StorageError('unavailable', `The PostgreSQL server failed (${code})`, {
      retryable: false,
      mayHaveHappened: false,
      cause,
    });
  return new StorageError('unavailable', 'The PostgreSQL server could not be reached, or its reply was lost', {
    cause,
  });
}
