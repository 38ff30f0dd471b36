export { SandboxViolation } from '@scratchfs/sandbox';
export {
  type ApplyOptions,
  type ApplyResult,
  applyChanges,
  type DirectoryRecovery,
  recoverDirectory,
} from './apply/apply-changes.js';
export type { KeptEntry } from './apply/change-journal.js';
export type { PathChange, PathState } from './apply/path-change.js';
export type { ApplyConflict, ConflictCode } from './apply/plan-changes.js';
export { autoRunFiles, type KnownLink } from './auto-run-files.js';
export { GitError } from './git/git.js';
export type { GitAccess } from './git-protection.js';
export { type HostFileSystemOptions, type HostGuarantees, hostFileSystem, hostGuarantees } from './host-file-system.js';
export type { HardLinks } from './host-writes.js';
export { isPathSafe } from './is-path-safe.js';
export type { LeftOut, LeftOutReason } from './load/directory-load.js';
export { type LoadOptions, type LoadProgress, type LoadResult, loadDirectory } from './load/load-directory.js';
export { type MergeBackOptions, type MergeResult, recoverMerge } from './merge/execute-merge.js';
export type { Recovery } from './merge/stage.js';
export { nodePrimitives } from './node-primitives.js';
export { OsSandboxIncompleteError } from './os-sandbox/bring-back.js';
export { OsSandboxUnavailableError } from './os-sandbox/bubblewrap.js';
export type { OsSandboxLimits } from './os-sandbox/limits.js';
export type { Stopped } from './os-sandbox/run-confined.js';
export {
  type OsSandboxOptions,
  type OsSandboxResult,
  runInOsSandbox,
} from './os-sandbox/run-in-os-sandbox.js';
export { ReadOnlySandboxFS, type ReadTextOptions } from './read-only-sandbox-fs.js';
export {
  type CheckoutOptions,
  HostHistory,
  type HostHistoryOptions,
  type OnboardOptions,
  type SnapshotOptions,
} from './versions/host-history.js';
export type { Unrepresentable } from './versions/read-worktree.js';
export * from './versions/shared.js';
