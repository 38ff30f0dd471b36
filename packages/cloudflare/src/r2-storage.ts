import { ObjectTreeStorage } from '@scratchfs/core/object-tree';
import { type CloudflareStorageOptions, parseOptions } from './options.js';
import { checkBucket, type R2BucketBinding } from './r2-bucket.js';
import { listFileSystems, R2ObjectStore } from './r2-object-store.js';

/**
 * A filesystem in an R2 bucket that any number of Workers share. Give it a bucket that is bound to the Worker. Its keys
 * begin with `scratchfs/<name>/`; the rest of the bucket is left alone. In a Worker, create a storage for each request
 * that uses one: the runtime forbids requests to wait for each other's work. Nothing is sent to R2 before the first
 * call.
 *
 * R2 accepts one write a second of one object, and each commit writes the head. Writes that wait in one storage share a
 * commit; a commit that is refused because another Worker was faster is repeated. For more writes use
 * {@link DurableObjectStorage}.
 * @throws TypeError, RangeError for options or a bucket of a wrong kind
 */
export class R2Storage extends ObjectTreeStorage {
  constructor(bucket: R2BucketBinding, options?: CloudflareStorageOptions) {
    const { name, tree } = parseOptions('R2Storage', options);
    super(new R2ObjectStore(checkBucket(bucket), name), tree);
  }

  /**
   * Returns the names of the filesystems in a bucket, sorted. Sends a request for each page of at most 1,000 names, and
   * one for each name.
   * @throws StorageError
   */
  static list(bucket: R2BucketBinding): Promise<string[]> {
    return listFileSystems(checkBucket(bucket));
  }
}
