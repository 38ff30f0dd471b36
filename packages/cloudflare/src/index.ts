export type { Collected, CollectOptions } from '@scratchfs/core/object-tree';
export type { SqlObjectState, SqlValue } from './durable-object-state.js';
export { DurableObjectStorage } from './durable-object-storage.js';
export type { CloudflareStorageOptions } from './options.js';
export type { R2BucketBinding, R2Listing, R2StoredObject } from './r2-bucket.js';
export { R2Storage } from './r2-storage.js';
