import { StorageError } from '@scratchfs/core';

/** The SDK, loaded on demand: naming the package must not force every user to install it. */
export type Sdk = typeof import('@aws-sdk/client-dynamodb');

let loaded: Promise<Sdk> | undefined;

/** @throws StorageError `unsupported` if the SDK is not installed */
export async function loadSdk(): Promise<Sdk> {
  try {
    loaded ??= import('@aws-sdk/client-dynamodb');
    return await loaded;
  } catch (cause) {
    loaded = undefined;
    const text = 'A DynamoDbStorage needs a package: npm install @aws-sdk/client-dynamodb';
    throw new StorageError('unsupported', text, { cause });
  }
}
