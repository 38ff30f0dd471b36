export type { Collected, CollectOptions } from './object-tree/garbage-collector.js';
export type { NamePage, ObjectStore, StoredHead, StoredObject } from './object-tree/object-store.js';
export { ObjectTreeBackend } from './object-tree/object-tree-backend.js';
export { ObjectTreeStorage, objectTreeStorage } from './object-tree/object-tree-storage.js';
export { OBJECT_TREE_OPTIONS, type ObjectTreeOptions } from './object-tree/options.js';
