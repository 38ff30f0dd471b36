export type { Collected, CollectOptions } from '@scratchfs/core/object-tree';
export type { S3StorageOptions } from './options.js';
export { s3Backend } from './s3-backend.js';
export { S3Storage } from './s3-storage.js';
