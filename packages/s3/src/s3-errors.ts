import { quote, StorageError, type StorageErrorKind } from '@scratchfs/core';
import { causeOf, readFailure, wasSentAgain, wasUnsent } from '@scratchfs/core/internal';

/**
 * Status codes of lost races: another object was there (412), another request is in progress (409), none was there
 * (404).
 */
const LOST_RACE_STATUSES = [404, 409, 412];

/** Statuses and names of failures that may be temporary. S3 sends `RequestTimeout` with 400 if a body is too slow. */
const TRANSIENT_STATUSES = [408, 429];
const TRANSIENT_NAMES = ['SlowDown', 'RequestTimeout'];

/**
 * Names of errors for a full store, such as QuotaExceeded of Ceph, or XMinioStorageFull and
 * XMinioAdminBucketQuotaExceeded of MinIO.
 */
const FULL_NAMES = /QuotaExceeded|StorageFull|InsufficientStorage|InsufficientCapacity/;

export function isNotModified(error: unknown): boolean {
  const { name, status } = readFailure(error);
  return status === 304 || name === 'NotModified';
}

export function isMissing(error: unknown): boolean {
  const { name, status } = readFailure(error);
  return name === 'NoSuchKey' || (status === 404 && name !== 'NoSuchBucket');
}

export function isPastEnd(error: unknown): boolean {
  return readFailure(error).status === 416;
}

export function isLostRace(error: unknown): boolean {
  const { name, status } = readFailure(error);
  return status !== undefined && LOST_RACE_STATUSES.includes(status) && name !== 'NoSuchBucket';
}

/**
 * Reports whether a request surely lost a race to another one: the SDK sent it only once, so it did not lose to its own
 * first attempt.
 */
export function isSurelyLostRace(error: unknown): boolean {
  return isLostRace(error) && !wasSentAgain(error);
}

/**
 * Converts an SDK error. A refused request did not happen, unless the SDK sent it more than once; a full store, missing
 * credentials and an unknown request (501) are also refusals. After a failure that may be temporary (no status, 408,
 * 429, another 5xx, `SlowDown`, `RequestTimeout`), the request may have happened, unless the store was never reached.
 */
export function toStorageError(error: unknown, bucket: string): StorageError {
  const { name, status } = readFailure(error);
  const cause = causeOf(error);
  const refusal = { retryable: false, mayHaveHappened: wasSentAgain(error), cause };
  const refuse = (message: string, kind: StorageErrorKind = 'unavailable'): StorageError =>
    new StorageError(kind, message, refusal);
  if (name === 'NoSuchBucket') return refuse(`There is no bucket ${quote(bucket)}`);
  if (name === 'RequestTimeTooSkewed')
    return refuse('The clock of this machine is too far from that of the store, which refuses its requests');
  if (name.endsWith('ProviderError'))
    return refuse('The SDK found no credentials: give it some, by its environment variables for example', 'denied');
  if (status === 507 || FULL_NAMES.test(name))
    return refuse(`The store has no space left for bucket ${quote(bucket)} (${name})`, 'full');
  if (status === 401 || status === 403)
    return refuse(
      `The store refuses the credentials or the right to do this in bucket ${quote(bucket)} (${name})`,
      'denied',
    );
  if (status === 501 || name === 'NotImplemented')
    return new StorageError('unsupported', 'The store does not know a kind of request that is needed', refusal);
  if (isLostRace(error) && wasSentAgain(error))
    return new StorageError('unavailable', 'The SDK sent a request again: what became of the first is unknown', {
      cause,
    });
  const mayPass =
    status === undefined || status >= 500 || TRANSIENT_STATUSES.includes(status) || TRANSIENT_NAMES.includes(name);
  return new StorageError(
    'unavailable',
    `The store failed: ${name}${status === undefined ? '' : ` (HTTP ${status})`}`,
    mayPass ? { cause, ...(wasUnsent(error) && { mayHaveHappened: false }) } : refusal,
  );
}
