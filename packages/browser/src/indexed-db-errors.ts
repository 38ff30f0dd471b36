import { isStorageError, StorageError, type StorageErrorKind } from '@scratchfs/core';

interface Failure {
  readonly kind: StorageErrorKind;
  readonly text: string;
}

/** Failures by the name of the `DOMException`. */
const FAILURES: Readonly<Record<string, Failure>> = {
  VersionError: {
    kind: 'version',
    text: 'A newer version of @scratchfs/browser has written the database, or another program has: reload the page, update the package, or choose another with the option database',
  },
  NotFoundError: {
    kind: 'unsupported',
    text: 'The database has no filesystems, because another program has created it: choose another with the option database',
  },
  SecurityError: { kind: 'denied', text: 'The browser does not let this page use IndexedDB' },
  NotAllowedError: { kind: 'denied', text: 'The browser does not let this page use IndexedDB' },
  AbortError: { kind: 'unavailable', text: 'The browser has stopped a transaction of IndexedDB' },
};

/** Converts an error of IndexedDB. A transaction that failed has changed nothing. */
export async function toStorageError(cause: unknown): Promise<unknown> {
  if (isStorageError(cause)) return cause;
  const { name = '', message = '' } = (cause ?? { name: 'AbortError' }) as Partial<DOMException>;
  if (name === 'QuotaExceededError')
    return new StorageError('full', `The browser gives this origin no more space${await usedSpace()}`, {
      mayHaveHappened: false,
      cause,
    });
  // Other errors, such as a TypeError of this package, are not failures of the browser.
  if (!(cause === null || cause instanceof DOMException)) return cause;
  const { kind, text } = FAILURES[name] ?? { kind: 'unavailable', text: `IndexedDB failed: ${name}: ${message}` };
  return new StorageError(kind, text, { mayHaveHappened: false, cause });
}

/** Returns the end of an error message, with the used and granted bytes; empty if the browser does not tell them. */
async function usedSpace(): Promise<string> {
  try {
    const { usage, quota } = await navigator.storage.estimate();
    if (usage === undefined || quota === undefined) return '';
    return `: ${usage} of ${quota} bytes are used. Delete files and checkpoints, and call collectGarbage()`;
  } catch {
    return '';
  }
}
