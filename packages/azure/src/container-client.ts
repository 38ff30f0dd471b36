import type { ContainerClient, StoragePipelineOptions } from '@azure/storage-blob';
import { StorageError } from '@scratchfs/core';
import { once } from '@scratchfs/core/internal';
import { loadSdk } from './sdk.js';

/** Environment variable that the Azure CLI reads too. */
const VARIABLE = 'AZURE_STORAGE_CONNECTION_STRING';

/**
 * Switches off the SDK's retries: if the response to a swap that won was lost, a retry would report that the swap lost.
 * The object tree repeats requests by itself.
 */
const retryOptions = { maxTries: 1 };

/** The used properties of a ContainerClient that its types do not declare. */
interface Internals {
  readonly pipeline?: { readonly factories?: readonly unknown[]; readonly options?: StoragePipelineOptions };
}

/**
 * Returns a client with the same container, credential and options that sends each request once. The given one is not
 * changed.
 * @throws TypeError if it is not a ContainerClient, or has request policies of its own
 */
export function sendingOnce(given: ContainerClient): ContainerClient {
  if (typeof given?.getBlockBlobClient !== 'function')
    throw new TypeError('An AzureBlobStorage needs a ContainerClient of the SDK, or a URL');
  const { pipeline } = given as unknown as Internals;
  if (pipeline?.factories !== undefined && pipeline.factories.length > 0)
    throw new TypeError(
      "A ContainerClient with request policies of its own cannot be used, because the SDK's retries cannot be turned off. Create it with a credential and options",
    );
  // There may be several copies of the SDK, and the credential belongs to the one that the given client is from.
  const Client = given.constructor as typeof ContainerClient;
  return new Client(given.url, given.credential, { ...pipeline?.options, retryOptions });
}

/** Returns a function that creates the client of a container once, in the account that the environment names. */
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
