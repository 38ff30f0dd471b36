import type { ContainerClient } from '@azure/storage-blob';
import { ObjectTreeStorage } from '@scratchfs/core/object-tree';
import { AzureBlobObjectStore, listFileSystems } from './azure-blob-object-store.js';
import { type AzureBlobStorageOptions, parseOptions, parseTarget } from './options.js';

/**
 * A filesystem in a container of Azure Blob Storage that many processes share. Give it a ContainerClient of
 * @azure/storage-blob, version 12.32 or newer, or a URL: `azure://container/name`. The URL takes the account and its
 * key from the environment variable `AZURE_STORAGE_CONNECTION_STRING`. No request is sent before the first call.
 *
 * The names of its blobs begin with `scratchfs/<name>/`; the rest of the container is left alone.
 * @throws TypeError, RangeError for options, a client or a URL of a wrong kind
 */
export class AzureBlobStorage extends ObjectTreeStorage {
  constructor(target: ContainerClient | string, options?: AzureBlobStorageOptions) {
    const { container, name, tree } = parseOptions(target, options);
    super(new AzureBlobObjectStore(container, name), tree);
  }

  /**
   * Returns the names of the filesystems in a container, sorted. Sends a request for each page of at most 5,000 names,
   * and one for each name.
   * @throws StorageError, and TypeError for a wrong client or URL
   */
  static list(target: ContainerClient | string): Promise<string[]> {
    return listFileSystems(parseTarget(target).container);
  }
}
