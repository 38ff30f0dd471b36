export { createSnapshot, createSnapshotSync, type SnapshotOptions } from './snapshot/create-snapshot.js';
export { type RestoreOptions, restoreSnapshot, restoreSnapshotSync } from './snapshot/restore-snapshot.js';
