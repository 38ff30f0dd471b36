import { sdkLoader } from '@scratchfs/core/internal';

/** The module `@aws-sdk/client-s3`. */
export type Sdk = typeof import('@aws-sdk/client-s3');

/** Imports the SDK. @throws StorageError `unsupported` if it is not installed */
export const loadSdk = sdkLoader<Sdk>(() => import('@aws-sdk/client-s3'), 'An S3Storage', '@aws-sdk/client-s3');
