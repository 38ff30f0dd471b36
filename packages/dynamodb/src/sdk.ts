import { sdkLoader } from '@scratchfs/core/internal';

/** The client's package. */
export type Sdk = typeof import('@aws-sdk/client-dynamodb');

/** @throws StorageError `unsupported` if it is not installed */
export const loadSdk = sdkLoader<Sdk>(
  () => import('@aws-sdk/client-dynamodb'),
  'A DynamoDbStorage',
  '@aws-sdk/client-dynamodb',
);
