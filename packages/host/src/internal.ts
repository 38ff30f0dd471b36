import type { Backend } from '@scratchfs/core';
import { HostBackend } from './host-backend.js';
import { hostError } from './host-error.js';

/**
 * Returns a backend that reads a directory of the host and writes nothing. Names that a disk reads as `.git` count as
 * missing. Versions change with inode, size, times, names and mode. @throws FsError ENOENT, ENOTDIR
 */
export function hostReadBackend(directory: string): Backend {
  try {
    return new HostBackend(directory, true, 'break', 'hidden');
  } catch (error) {
    throw hostError(error, 'open', '/');
  }
}
export {
  CommitDraft,
  type CommitDraftOptions,
  type CommitEntry,
  moveBranch,
  type RefusedPath,
} from './branch/commit-draft.js';
export { type IgnoreFacts, ignoreFacts, trackedIgnored } from './git/ignore-facts.js';
export { isAlive, startOf } from './process-start.js';
