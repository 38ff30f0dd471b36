export type { Collected, CollectOptions } from './object-tree/garbage-collector.js';
export type { ObjectStore, StoredHead } from './object-tree/object-store.js';
export { ObjectTreeBackend, type ObjectTreeOptions } from './object-tree/object-tree-backend.js';
