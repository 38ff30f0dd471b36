import { isStorageError, StorageError, type StorageErrorKind } from '@scratchfs/core';

/** Kinds of failures, and the codes and messages of the drivers by which they are found. */
const KINDS: readonly { readonly found: RegExp; readonly kind: StorageErrorKind; readonly text: string }[] = [
  { found: /full/i, kind: 'full', text: 'The disk of the SQLite file is full: free some space and try again' },
  {
    found: /readonly|unable to open|cantopen|authorization|perm/i,
    kind: 'denied',
    text: 'The SQLite file cannot be opened for writing: check its path, owner and mode',
  },
  { found: /malformed|not a database|corrupt|notadb/i, kind: 'corrupt', text: 'The SQLite file is damaged' },
  {
    found: /no such table/i,
    kind: 'lost',
    text: 'The tables of the filesystem are gone from the SQLite file',
  },
  { found: /not open|closed/i, kind: 'closed', text: 'The SQLite database was closed' },
];

/** Reports whether a statement did nothing because another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  if (typeof errcode === 'number') return [5, 6].includes(errcode & 0xff);
  return /^SQLITE_(BUSY|LOCKED)/.test(String(code)) || /database (table )?is locked/i.test(String(error));
}

/** Reports whether a statement did nothing because the connection, or the file, may only be read. */
export function isReadOnly(error: unknown): boolean {
  const { code, message = '' } = (error ?? {}) as { code?: unknown; message?: string };
  return /readonly/i.test(`${String(code)} ${message}`);
}

/**
 * Converts an error of a driver. After a known error nothing has changed, because the transaction was rolled back. Any
 * other, such as a failing disk, may have come after the commit.
 */
export function toStorageError(cause: unknown): unknown {
  if (isStorageError(cause)) return cause;
  if (!(cause instanceof Error)) return cause;
  if (isBusy(cause))
    // Not retryable: the object store has already repeated the statement for a while.
    return new StorageError(
      'unavailable',
      'Another process holds the lock of the SQLite file, so nothing was done: end that process, or try again later',
      { mayHaveHappened: false, retryable: false, cause },
    );
  const text = `${String((cause as { code?: unknown }).code)} ${cause.message}`;
  const known = KINDS.find(({ found }) => found.test(text));
  if (known !== undefined) return new StorageError(known.kind, known.text, { mayHaveHappened: false, cause });
  return new StorageError('unavailable', `SQLite failed: ${cause.message}`, { retryable: false, cause });
}
