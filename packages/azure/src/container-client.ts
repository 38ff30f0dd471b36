import type { ContainerClient, StoragePipelineOptions } from '@azure/storage-blob';
import { StorageError } from '@scratchfs/core';
import { once } from '@scratchfs/core/internal';
import { loadSdk } from './sdk.js';

/** Environment variable that the Azure CLI and Azure Functions use too. */
const VARIABLE = 'AZURE_STORAGE_CONNECTION_STRING';

/** The SDK's own retries report a swap as lost if it won and its response was lost. The object tree repeats requests. */
const retryOptions = { maxTries: 1 };

/** The part of a ContainerClient that its types do not show. */
interface Internals {
  readonly pipeline?: { readonly factories?: readonly unknown[]; readonly options?: StoragePipelineOptions };
}

/**
 * Returns a client of the same container, credential and options that sends each request once. The given one remains as
 * it is.
 * @throws TypeError for something else than a ContainerClient, or one with request policies of its own
 */
export function sendingOnce(given: ContainerClient): ContainerClient {
  if (typeof given?.getBlockBlobClient !== 'function')
    throw new TypeError('An AzureBlobStorage needs a ContainerClient of the SDK, or a URL');
  const { pipeline } = given as unknown as Internals;
  if (pipeline?.factories !== undefined && pipeline.factories.length > 0)
    throw new TypeError(
      "A ContainerClient with request policies of its own cannot be used, because the SDK's retries cannot be turned off. Create it with a credential and options",
    );
  // The class of the given client is that of its own copy of the SDK, which knows its credential.
  const Client = given.constructor as typeof ContainerClient;
  return new Client(given.url, given.credential, { ...pipeline?.options, retryOptions });
}

/** Returns a function that makes the client of a container of the account that the environment names. */
export function fromEnvironment(container: string): () => Promise<ContainerClient> {
  return once(async () => {
    const { env } = await import('node:process');
    const connection = env[VARIABLE];
    if (connection === undefined || connection === '')
      throw new StorageError(
        'denied',
        `A storage at azure:// takes the account and its key from the environment variable ${VARIABLE}, which is not set. Or give new AzureBlobStorage a ContainerClient`,
        { mayHaveHappened: false },
      );
    const { ContainerClient: Client } = await loadSdk();
    try {
      return new Client(connection, container, { retryOptions });
    } catch {
      // The SDK's message may quote the key.
      throw new StorageError('denied', `The environment variable ${VARIABLE} is not a connection string`, {
        mayHaveHappened: false,
      });
    }
  });
}
