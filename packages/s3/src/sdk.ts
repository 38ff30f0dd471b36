import { StorageError } from '@scratchfs/core';

/** The SDK, loaded on demand: naming the package must not force every user to install it. */
export type Sdk = typeof import('@aws-sdk/client-s3');

let loaded: Promise<Sdk> | undefined;

/** @throws StorageError `unsupported` if the SDK is not installed */
export async function loadSdk(): Promise<Sdk> {
  try {
    loaded ??= import('@aws-sdk/client-s3');
    return await loaded;
  } catch (cause) {
    loaded = undefined;
    const text = 'An S3Storage needs a package: npm install @aws-sdk/client-s3';
    throw new StorageError('unsupported', text, { cause });
  }
}
