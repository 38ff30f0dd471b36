export type {
  AddedOrRemovedPath,
  ChangedPath,
  DiffLine,
  FileDiff,
  FormattableDiff,
  FormatVersionDiffOptions,
  RenamedPath,
  VersionDiff,
  VersionDiffOptions,
  VersionEntry,
} from './diff.js';
export type { TreeEdits } from './edit-tree.js';
export type { EntryCount } from './entry-count.js';
export { HistoryError, type HistoryErrorCode, type HistoryErrorDetails, isHistoryError } from './errors.js';
export { type CommitOptions, History, type HistoryOptions } from './history.js';
export type { Merge } from './merge.js';
export type { ConflictKind, MergeConflict } from './merge-conflicts.js';
export type { Favor, MergeOptions } from './merge-options.js';
export { ID_BYTES, isObjectId, type ObjectFormat, type ObjectId } from './object-id.js';
export type { Commit } from './objects/commit.js';
export { checkEntryName, isDotGit } from './objects/entry-name.js';
export type { GitObject, ObjectType } from './objects/git-object.js';
export type { Person, Signature } from './objects/person.js';
export type { TreeEntry, TreeMode } from './objects/tree.js';
export { type Hasher, type Primitives, portablePrimitives } from './primitives.js';
export type { PruneOptions, PruneResult } from './prune.js';
export type {
  GitObjectStore,
  NamedObject,
  PruneCall,
  Pruned,
  RefStore,
  RefValue,
  Repository,
  RepositoryCall,
  StoredObject,
  SwapRefCall,
} from './repository.js';
export { type ConfigEntry, configEntries } from './stores/git-config.js';
export { GitDirectory, type GitDirectoryOptions } from './stores/git-directory.js';
export { MemoryRepository } from './stores/memory-repository.js';
export { type Pack, writePack } from './stores/pack-writer.js';
export { isBinary } from './text/is-binary.js';
export { type DiffAlgorithm, type MergedText, type MergeTextOptions, mergeText } from './text/merge-text.js';
export type { PathEntry } from './tree-walk.js';
export type { Problem, Verification } from './verify.js';
