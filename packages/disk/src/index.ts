export type { Collected, CollectOptions } from '@scratchfs/core/object-tree';
export { DiskStorage } from './disk-storage.js';
export type { DiskStorageOptions } from './options.js';
