import type { R2Bucket, DurableObjectStorage as State } from '@cloudflare/workers-types';
import type { R2BucketBinding, SqlObjectState } from '@scratchfs/cloudflare';

/** Compiles only if what Cloudflare's own types describe can be given to the storages. */
export const bucket = (given: R2Bucket): R2BucketBinding => given;
export const state = (given: State): SqlObjectState => given;
