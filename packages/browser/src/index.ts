export type { Collected, CollectOptions } from '@scratchfs/core/object-tree';
export { IndexedDbStorage } from './indexed-db-storage.js';
export type { IndexedDbPlace, IndexedDbStorageOptions } from './options.js';
