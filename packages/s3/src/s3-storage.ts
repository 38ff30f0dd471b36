import type { S3Client } from '@aws-sdk/client-s3';
import { BackendStorage } from '@scratchfs/core';
import type { Collected, CollectOptions, ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { parseOptions, type S3StorageOptions } from './options.js';
import { s3Backend } from './s3-backend.js';

/** Deadline of one operation, however many requests it needs: each of those has its own deadline. */
const OPERATION_TIMEOUT_MS = 3_600_000;

/**
 * A filesystem in a bucket that many processes share. Give it a client of @aws-sdk/client-s3, version 3, with the
 * bucket, or a URL: `s3://bucket/prefix?endpoint=…&region=…`. No request is sent before the first call.
 * @throws TypeError, RangeError for options or a URL of a wrong kind
 */
export class S3Storage extends BackendStorage {
  readonly #backend: ObjectTreeBackend;

  constructor(target: S3Client | string, options: S3StorageOptions = {}) {
    const { engine } = parseOptions(options);
    const backend = s3Backend(target, options);
    super(backend, { ...engine, timeoutMs: OPERATION_TIMEOUT_MS });
    this.#backend = backend;
  }

  /**
   * Deletes everything unreachable: replaced contents, those of dropped checkpoints, and those of lost races. Other
   * processes may write concurrently. With `olderThanMs` garbage stays that long after a collection has found it. With
   * `forksOlderThanMs` forks made that long ago by other processes are abandoned: for processes that crashed before
   * they closed them.
   * @throws StorageError; `conflict` if other collectors are faster each time, `closed` if the storage is closed during
   *   the call
   */
  collectGarbage(options?: CollectOptions): Promise<Collected> {
    return this.#backend.collectGarbage(options);
  }
}
