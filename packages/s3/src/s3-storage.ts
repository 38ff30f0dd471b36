import type { S3Client } from '@aws-sdk/client-s3';
import { ObjectTreeStorage } from '@scratchfs/core/object-tree';
import { parseOptions, type S3StorageOptions } from './options.js';
import { s3ObjectStore } from './s3-backend.js';

/**
 * A filesystem in a bucket that many processes share. Give it a client of @aws-sdk/client-s3, version 3, with the
 * bucket, or a URL: `s3://bucket/prefix?endpoint=…&region=…`. No request is sent before the first call.
 * @throws TypeError, RangeError for options or a URL of a wrong kind
 */
export class S3Storage extends ObjectTreeStorage {
  constructor(target: S3Client | string, options?: S3StorageOptions) {
    const settings = parseOptions(options);
    super(s3ObjectStore(target, settings), settings.tree);
  }
}
