import { StorageError, type StorageErrorKind } from '@scratchfs/core';

const KINDS: readonly { readonly found: RegExp; readonly kind: StorageErrorKind; readonly text: string }[] = [
  { found: /SQLITE_FULL/, kind: 'full', text: 'The Durable Object has no space left' },
  { found: /SQLITE_TOOBIG/, kind: 'full', text: 'A row would be larger than a Durable Object stores' },
  { found: /SQLITE_CORRUPT|SQLITE_NOTADB/, kind: 'corrupt', text: 'The database of the Durable Object is damaged' },
  {
    found: /no such table: scratchfs_/,
    kind: 'lost',
    text: 'The tables of the filesystem are gone: deleteAll(), for example, deletes them',
  },
  {
    found: /SQL is not enabled/,
    kind: 'unsupported',
    text: 'The class of the Durable Object has no SQLite storage: name it in new_sqlite_classes',
  },
];

/** Converts an error of a Durable Object's storage. Nothing has changed, because the transaction was rolled back. */
export function toStorageError(error: unknown): unknown {
  if (error instanceof StorageError || !(error instanceof Error)) return error;
  const known = KINDS.find(({ found }) => found.test(error.message));
  const refusal = { mayHaveHappened: false, cause: error };
  if (known !== undefined) return new StorageError(known.kind, known.text, refusal);
  return new StorageError('unavailable', `The storage of the Durable Object failed: ${error.message}`, {
    ...refusal,
    retryable: false,
  });
}
