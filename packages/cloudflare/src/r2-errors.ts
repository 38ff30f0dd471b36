import { StorageError } from '@scratchfs/core';

/** Codes, which are at the end of an error's message (https://developers.cloudflare.com/r2/api/error-codes/). */
const NO_SUCH_BUCKET = 10006;
const TOO_MANY_REQUESTS = 10058;
/** Unauthorized, AccessDenied, NotEntitled, ObjectLockedByBucketPolicy. */
const DENIED = [10002, 10003, 10042, 10069];

/** Converts an error of a bucket. A TypeError is a mistake in the call, and is returned as it is. */
export function toStorageError(error: unknown): unknown {
  if (error instanceof StorageError || error instanceof TypeError) return error;
  const code = codeOf(error);
  const refusal = { mayHaveHappened: false, cause: error };
  if (code === NO_SUCH_BUCKET) return new StorageError('lost', 'The bucket does not exist', refusal);
  if (code !== undefined && DENIED.includes(code))
    return new StorageError('denied', `R2 refuses access to the bucket or object (${code})`, refusal);
  if (code === TOO_MANY_REQUESTS)
    return new StorageError('unavailable', 'R2 gets too many requests; it accepts one write a second of one object', {
      ...refusal,
    });
  return new StorageError('unavailable', `R2 failed${code === undefined ? '' : ` (${code})`}: see the cause`, {
    cause: error,
  });
}

function codeOf(error: unknown): number | undefined {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  const digits = typeof message === 'string' ? /\((\d{5,6})\)$/.exec(message)?.[1] : undefined;
  return digits === undefined ? undefined : Number(digits);
}
