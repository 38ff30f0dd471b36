export { asyncForm, asyncStorage, backendOf, type MemoryBackend } from './async-storage.js';
export type * from './backend.js';
export { isWholeWrite, UNKNOWN_VERSION } from './backend.js';
export { type AsyncStorageOptions, BackendStorage } from './backend-storage.js';
export {
  type FileFunction,
  type FileSystemOptions,
  type FunctionFile,
  fileSystemOn,
  type InitialFile,
  type InitialFiles,
  openFileSystem,
  openInMemory,
} from './create-file-system.js';
export { Dir } from './dir.js';
export type { Context } from './engine/context.js';
export type { Cursor } from './engine/cursor.js';
export { rootMeta, systemClock } from './engine/defaults.js';
export type { Timer } from './engine/scheduling/deadline.js';
export type { View } from './engine/view.js';
export type { ViewFunction } from './engine/view-function.js';
export type { EntryInfo, EntryKind, FileEntry, NewEntry } from './entry.js';
export { Dirent, Stats } from './entry.js';
export {
  FsError,
  type FsErrorCode,
  type FsErrorDetails,
  isFsError,
  isStorageError,
  OutcomeUnknownError,
  quote,
  StorageError,
  type StorageErrorKind,
  type StorageErrorOptions,
} from './errors.js';
export type { FileHandle, HandleWriteArgument, HandleWriteOptions, SyncFileHandle } from './file-handle.js';
export type * from './file-system.js';
export type { FileSystemStats, Limits } from './limits.js';
export { MemoryStorage, type MemoryStorageOptions } from './memory-storage.js';
export {
  baseName,
  checkName,
  compareNames,
  isWithin,
  joinPath,
  MAX_DEPTH,
  MAX_NAME_BYTES,
  MAX_PATH_BYTES,
  normalizePath,
  parentPath,
  pathOf,
  pathSegments,
} from './paths.js';
export type { AsyncStorage, Storage, SyncStorage } from './storage.js';
export type { FileRecord } from './to-record.js';
