import { type FsErrorCode, isFsError, isStorageError } from '@scratchfs/core';
import { NotApprovedError } from './approvals.js';
import { InputError } from './input.js';

/** Advice for the model by error code. Errors of a sandbox have a hint of their own. */
const NEXT: Partial<Record<FsErrorCode, string>> = {
  ENOENT: 'Use list_files or search_files to find what there is.',
  EISDIR: 'It is a directory: list_files shows what is in it.',
  ENOTDIR: 'A part of the path is a file: list_files shows what there is.',
  ENOTEMPTY: 'The directory is not empty: set recursive to true to delete all that is in it.',
  EFBIG: 'Use grep to find lines in large files, or write less.',
  ENOSPC: 'Delete what is not needed, or write less.',
};

/**
 * Formats an error for a model: what happened, and what to do next. Returns undefined for an error that does not
 * concern the model: its message might reveal details of the program.
 */
export function errorText(error: unknown): string | undefined {
  if (error instanceof InputError || error instanceof NotApprovedError) return error.message;
  if (isFsError(error)) {
    const next = error.hint === undefined ? NEXT[error.code] : undefined;
    return next === undefined ? error.message : `${error.message}\n${next}`;
  }
  if (isStorageError(error)) {
    const next = error.retryable ? 'Try again in a while.' : 'Trying again will not help.';
    return `The storage of the files failed (${error.kind}). ${next}`;
  }
  return undefined;
}
