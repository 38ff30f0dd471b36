import type { S3Client } from '@aws-sdk/client-s3';
import { ExecutorAsyncStorage, RemoteExecutor } from '@scratchfs/core';
import type { Collected, CollectOptions, ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { parseOptions, type S3StorageOptions } from './options.js';
import { s3Backend } from './s3-backend.js';

/** Of one operation, however many requests it needs: each of those has a deadline of its own. */
const OPERATION_TIMEOUT_MS = 3_600_000;

/**
 * A filesystem in a bucket that many processes share. Give it a client of @aws-sdk/client-s3, version 3, with the bucket,
 * or a URL: `s3://bucket/prefix?endpoint=…&region=…`. Nothing is asked of the store before the first call.
 * @throws TypeError, RangeError for options or a URL of a wrong kind
 */
export class S3Storage extends ExecutorAsyncStorage {
  readonly #backend: ObjectTreeBackend;

  constructor(target: S3Client | string, options: S3StorageOptions = {}) {
    const { engine } = parseOptions(options);
    const backend = s3Backend(target, options);
    super(new RemoteExecutor(backend, { ...engine, timeoutMs: OPERATION_TIMEOUT_MS }), engine.clock);
    this.#backend = backend;
  }

  /**
   * Deletes what nobody can reach any more: what was replaced, what belongs to dropped checkpoints, what lost a race. Any
   * number of processes may write meanwhile. With `olderThanMs` garbage stays so long after a collection has found it. With
   * `forksOlderThanMs` forks made so long ago by other processes are forgotten: for those that crashed before they closed them.
   * @throws StorageError; `conflict` where others are quicker each time, `closed` where the storage is closed meanwhile
   */
  collectGarbage(options?: CollectOptions): Promise<Collected> {
    return this.#backend.collectGarbage(options);
  }
}
