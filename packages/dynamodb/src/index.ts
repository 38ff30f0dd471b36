export type { Collected, CollectOptions } from '@scratchfs/core/object-tree';
export { DynamoDbStorage } from './dynamodb-storage.js';
export type { DynamoDbStorageOptions } from './options.js';
