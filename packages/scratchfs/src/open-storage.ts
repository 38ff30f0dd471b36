import { type AsyncStorage, quote, StorageError } from '@scratchfs/core';

interface Provider {
  readonly packageName: string;
  /** Class that the package exports; its constructor takes the URL. */
  readonly className: string;
  /** Packages that must be installed in addition. */
  readonly needs: readonly string[];
}

const AZURE: Provider = {
  packageName: '@scratchfs/azure',
  className: 'AzureBlobStorage',
  needs: ['@azure/storage-blob'],
};
const DISK: Provider = { packageName: '@scratchfs/disk', className: 'DiskStorage', needs: [] };
const DYNAMODB: Provider = {
  packageName: '@scratchfs/dynamodb',
  className: 'DynamoDbStorage',
  needs: ['@aws-sdk/client-dynamodb'],
};
const REDIS: Provider = { packageName: '@scratchfs/redis', className: 'RedisStorage', needs: ['ioredis'] };
const SQLITE: Provider = { packageName: '@scratchfs/sql', className: 'SqliteStorage', needs: [] };
const POSTGRES: Provider = { packageName: '@scratchfs/sql', className: 'PostgresStorage', needs: ['pg'] };
const S3: Provider = { packageName: '@scratchfs/s3', className: 'S3Storage', needs: ['@aws-sdk/client-s3'] };

/** Providers by URL scheme. */
const PROVIDERS: ReadonlyMap<string, Provider> = new Map([
  ['file:', DISK],
  ['redis:', REDIS],
  ['rediss:', REDIS],
  ['s3:', S3],
  ['azure:', AZURE],
  ['dynamodb:', DYNAMODB],
  ['sqlite:', SQLITE],
  ['postgres:', POSTGRES],
  ['postgresql:', POSTGRES],
]);

/**
 * Opens the storage of a URL. Its package is imported here, so that users need not install or bundle storages that they
 * do not use. The caller closes the storage.
 * @throws TypeError if it is not a URL, or one of an unknown scheme; StorageError `unsupported` if the required package
 *   is not installed
 */
export async function openStorage(url: string): Promise<AsyncStorage> {
  const scheme = typeof url === 'string' ? /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0].toLowerCase() : undefined;
  const provider = scheme === undefined ? undefined : PROVIDERS.get(scheme);
  if (scheme === undefined || provider === undefined) {
    const known = [...PROVIDERS.keys()].map((each) => `${each}//`).join(', ');
    throw new TypeError(
      `A storage's URL begins with one of ${known}${scheme === undefined ? '' : `, not with ${quote(scheme)}`}`,
    );
  }
  const { packageName, className, needs } = provider;
  let loaded: Record<string, unknown>;
  try {
    loaded = (await import(/* @vite-ignore */ /* webpackIgnore: true */ packageName)) as Record<string, unknown>;
  } catch (error) {
    const missing = [packageName, ...needs].join(' ');
    throw new StorageError('unsupported', `A storage at ${scheme}// needs a package: npm install ${missing}`, {
      cause: error,
    });
  }
  const StorageClass = loaded[className] as new (url: string) => AsyncStorage;
  return new StorageClass(url);
}
