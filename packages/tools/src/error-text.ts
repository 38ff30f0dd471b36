import { type FsErrorCode, isFsError, isStorageError } from '@scratchfs/core';
import { isSandboxError } from '@scratchfs/sandbox';
import { NotApprovedError } from './approvals.js';
import { InputError } from './input.js';

/** Advice for the model by error code. It may name only tools and commands that the model has. */
export type Hints = Partial<Record<FsErrorCode, string>>;

/** Advice that names no tool. */
export const GENERAL_HINTS: Hints = {
  EISDIR: 'It is a directory.',
  ENOTDIR: 'A part of the path is a file.',
  ENOTEMPTY: 'The directory is not empty.',
  EFBIG: 'Write less.',
  ENOSPC: 'Delete what is not needed, or write less.',
};

/** Advice for the editor tools, whose command `view` also lists directories. */
export const EDITOR_HINTS: Hints = {
  ...GENERAL_HINTS,
  ENOENT: 'Use view on a directory to find what there is.',
  EISDIR: 'It is a directory: view shows what is in it.',
  ENOTDIR: 'A part of the path is a file: view shows what there is.',
};

/** Returns advice that names only file tools among those offered. */
export function fileToolHints(offered: ReadonlySet<string>): Hints {
  const finders = ['list_files', 'search_files'].filter((name) => offered.has(name));
  const hints: Hints = { ...GENERAL_HINTS };
  if (finders.length > 0) hints.ENOENT = `Use ${finders.join(' or ')} to find what there is.`;
  if (offered.has('list_files')) {
    hints.EISDIR = 'It is a directory: list_files shows what is in it.';
    hints.ENOTDIR = 'A part of the path is a file: list_files shows what there is.';
  }
  if (offered.has('grep')) hints.EFBIG = 'Use grep to find lines in large files, or write less.';
  return hints;
}

/**
 * Formats an error for a model: what happened, and what to do next. Returns undefined for an error that does not
 * concern the model: its message might reveal details of the program.
 */
export function errorText(error: unknown, hints: Hints): string | undefined {
  if (error instanceof InputError || error instanceof NotApprovedError) return error.message;
  // A sandbox's error brings its own advice.
  if (isSandboxError(error)) return error.message;
  if (isFsError(error)) {
    const next = error.hint === undefined ? hints[error.code] : undefined;
    return next === undefined ? error.message : `${error.message}\n${next}`;
  }
  if (isStorageError(error)) {
    const next = error.retryable ? 'Try again in a while.' : 'Trying again will not help.';
    return `The storage of the files failed (${error.kind}). ${next}`;
  }
  return undefined;
}
