import { sdkLoader } from '@scratchfs/core/internal';

/** The module `@azure/storage-blob`. */
export type Sdk = typeof import('@azure/storage-blob');

/** Imports the SDK. @throws StorageError `unsupported` if it is not installed */
export const loadSdk = sdkLoader<Sdk>(
  () => import('@azure/storage-blob'),
  'An AzureBlobStorage at a URL',
  '@azure/storage-blob',
);
