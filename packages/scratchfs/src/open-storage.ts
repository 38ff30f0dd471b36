import { type AsyncStorage, quote, StorageError } from '@scratchfs/core';

/** Name of a package under `@scratchfs/`, its class whose constructor takes the URL, and what must be installed too. */
type Provider = readonly [packageName: string, className: string, needs?: string];

const REDIS: Provider = ['redis', 'RedisStorage', 'ioredis'];
const POSTGRES: Provider = ['sql', 'PostgresStorage', 'pg'];

/** Providers by URL scheme. */
const PROVIDERS: ReadonlyMap<string, Provider> = new Map([
  ['file:', ['disk', 'DiskStorage']],
  ['redis:', REDIS],
  ['rediss:', REDIS],
  ['s3:', ['s3', 'S3Storage', '@aws-sdk/client-s3']],
  ['azure:', ['azure', 'AzureBlobStorage', '@azure/storage-blob']],
  ['dynamodb:', ['dynamodb', 'DynamoDbStorage', '@aws-sdk/client-dynamodb']],
  ['sqlite:', ['sql', 'SqliteStorage']],
  ['postgres:', POSTGRES],
  ['postgresql:', POSTGRES],
]);

/**
 * Opens the storage of a URL. Its package is imported here, so that users need not install or bundle storages that they
 * do not use. The caller closes the storage.
 * @throws TypeError if it is not a URL of a known scheme, or the storage refuses it; StorageError `unsupported` if the
 *   required package cannot be imported
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
  const [name, className, needs] = provider;
  const packageName = `@scratchfs/${name}`;
  let loaded: Record<string, unknown>;
  try {
    loaded = (await import(/* @vite-ignore */ /* webpackIgnore: true */ packageName)) as Record<string, unknown>;
  } catch (error) {
    const missing = needs === undefined ? packageName : `${packageName} ${needs}`;
    throw new StorageError('unsupported', `A storage at ${scheme}// needs a package: npm install ${missing}`, {
      cause: error,
    });
  }
  const StorageClass = loaded[className] as new (url: string) => AsyncStorage;
  return new StorageClass(url);
}
