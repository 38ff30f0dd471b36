export type { Collected, CollectOptions } from '@scratchfs/core/object-tree';
export { AzureBlobStorage } from './azure-blob-storage.js';
export type { AzureBlobStorageOptions } from './options.js';
