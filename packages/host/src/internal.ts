export { examineChanges } from './apply/apply-changes.js';
export {
  CommitDraft,
  type CommitDraftOptions,
  type CommitEntry,
  moveBranch,
  type RefusedPath,
} from './branch/commit-draft.js';
export { type IgnoreFacts, ignoreFacts, trackedIgnored } from './git/ignore-facts.js';
export { isCode } from './host-error.js';
export { acquireProcessLock } from './merge/process-lock.js';
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
