import { quote } from '@scratchfs/core';
import type { Lower } from '../backend/lower.js';
import type { Contents } from '../log/contents.js';
import type { OperationLog } from '../log/operation-log.js';
import type { MovedDirectories } from '../store/moved-directories.js';
import type { ReadOnlyPaths } from '../visibility/visible-backend.js';
import type { PendingAccepts } from './pending-accept.js';

/** Parts of an attempt that accepting needs. */
export interface AcceptParts {
  readonly attempt: string;
  /** Path of the user's directory on the disk. */
  readonly directory: string;
  readonly lower: Lower;
  readonly contents: Contents;
  readonly log: OperationLog;
  readonly pending: PendingAccepts;
  readonly moves: MovedDirectories;
  /** Directories of the disk that an accept leaves alone. */
  readonly readOnly: ReadOnlyPaths;
  readonly clock: () => number;
}

const MAX_LISTED_PATHS = 5;

/** Formats a list of paths for a message: the first five, and the number of the others. */
export function listOf(paths: readonly string[]): string {
  const shown = paths
    .slice(0, MAX_LISTED_PATHS)
    .map((path) => quote(path))
    .join(', ');
  return paths.length > MAX_LISTED_PATHS ? `${shown} and ${paths.length - MAX_LISTED_PATHS} more` : shown;
}
