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
export { examineChanges } from './apply/apply-changes.js';
export { hasJournal } from './apply/journal.js';
export {
  CommitDraft,
  type CommitDraftOptions,
  type CommitEntry,
  moveBranch,
  type RefusedPath,
} from './branch/commit-draft.js';
export { type IgnoreFacts, ignoreFacts, trackedIgnored } from './git/ignore-facts.js';
export { isCode } from './host-error.js';
export { type Binding, findBubblewrap, NOBODY, type Scratch } from './os-sandbox/bubblewrap.js';
export {
  type CopyChange,
  type CopyChanges,
  changesOf,
  dropChanges,
  type LeftEntry,
  limitOwn,
  takeChanges,
} from './os-sandbox/copy-changes.js';
export type { GivenEntry } from './os-sandbox/copy-index.js';
export { gitMounts } from './os-sandbox/git-mounts.js';
export { type AllLimits, allLimits } from './os-sandbox/limits.js';
export { INSIDE } from './os-sandbox/link-targets.js';
export {
  type CopySource,
  isDependency,
  PersistentCopy,
  statText,
  targetInCopy,
  type Visibility,
} from './os-sandbox/persistent-copy.js';
export { argumentsOf, checkTimeout, environmentOf, type Run, runConfined } from './os-sandbox/run-confined.js';
export { isOpenToAll, toolchainOf } from './os-sandbox/toolchain.js';
export { isAlive, startOf } from './process-start.js';
