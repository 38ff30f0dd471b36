import type { S3Client } from '@aws-sdk/client-s3';
import { ownClient, parseServiceUrl } from '@scratchfs/core/internal';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { asFolder, parseOptions, type S3StorageOptions, type Settings } from './options.js';
import { type S3Location, S3ObjectStore } from './s3-object-store.js';
import { loadSdk } from './sdk.js';

/**
 * Returns the backend of a filesystem in a bucket, for tools that need one. `S3Storage` is the storage for users.
 * @throws TypeError, RangeError for options or a URL of a wrong kind
 */
export function s3Backend(target: S3Client | string, options?: S3StorageOptions): ObjectTreeBackend {
  const settings = parseOptions(options);
  return new ObjectTreeBackend(s3ObjectStore(target, settings), settings.tree);
}

/** @throws TypeError for options or a URL of a wrong kind */
export function s3ObjectStore(target: S3Client | string, settings: Settings): S3ObjectStore {
  return new S3ObjectStore({ ...locationOf(target, settings), singleWriter: settings.singleWriter });
}

function locationOf(
  target: S3Client | string,
  { bucket, prefix }: { readonly bucket: string | undefined; readonly prefix: string },
): Omit<S3Location, 'singleWriter'> {
  if (typeof target !== 'string') {
    if (typeof target?.send !== 'function') throw new TypeError('An S3Storage needs an S3Client of the SDK, or a URL');
    if (bucket === undefined || bucket === '') throw new TypeError('An S3Storage with a client needs a bucket');
    return { client: async () => target, close: async () => {}, bucket, prefix };
  }
  if (bucket !== undefined || prefix !== '')
    throw new TypeError('A URL says bucket and prefix itself: leave the options out');
  const url = parseServiceUrl(target, 's3', 'an S3Storage', 's3://bucket/prefix?region=name&endpoint=https://host');
  const create = async (): Promise<S3Client> => {
    const { S3Client: Client } = await loadSdk();
    const { endpoint, region } = url;
    return new Client({
      ...(region === undefined ? {} : { region }),
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
      // Older stores fail on the checksum trailers that the SDK sends by default. Reads are verified by our own hashes.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  };
  return {
    ...ownClient(create),
    bucket: url.host,
    prefix: asFolder(url.path),
  };
}
