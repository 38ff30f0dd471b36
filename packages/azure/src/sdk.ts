import { sdkLoader } from '@scratchfs/core/internal';

/** The client's package. */
export type Sdk = typeof import('@azure/storage-blob');

/** @throws StorageError `unsupported` if it is not installed */
export const loadSdk = sdkLoader<Sdk>(
  () => import('@azure/storage-blob'),
  'An AzureBlobStorage at a URL',
  '@azure/storage-blob',
);
