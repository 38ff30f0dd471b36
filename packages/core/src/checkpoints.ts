export {
  type CopiedFileSystem,
  type CopyFileSystemOptions,
  type CopyProgress,
  copyFileSystem,
} from './checkpoints/copy-file-system.js';
export { type RestoredPaths, restore, restoreSync } from './checkpoints/restore.js';
export {
  type Committed,
  type RollbackOptions,
  type RolledBack,
  withRollback,
} from './checkpoints/with-rollback.js';
