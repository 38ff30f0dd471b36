import { sdkLoader } from '@scratchfs/core/internal';

/** The module `@aws-sdk/client-dynamodb`. */
export type Sdk = typeof import('@aws-sdk/client-dynamodb');

/** Imports the SDK. @throws StorageError `unsupported` if it is not installed */
export const loadSdk = sdkLoader<Sdk>(
  () => import('@aws-sdk/client-dynamodb'),
  'A DynamoDbStorage',
  '@aws-sdk/client-dynamodb',
);
