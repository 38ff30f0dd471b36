import { quote, StorageError, type StorageErrorKind } from '@scratchfs/core';
import { causeOf, nameOf } from '@scratchfs/core/internal';

/** Codes of lost races: another blob was found, or none. */
const LOST_RACE = /^(ConditionNotMet|TargetConditionNotMet|BlobAlreadyExists|BlobNotFound)$/;
/** Statuses of lost races, for responses without a code. */
const LOST_RACE_STATUSES = [404, 409, 412];
/** Codes of connections that failed before anything was sent. */
const UNSENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/;
/** Names of errors of `@azure/identity`. */
const NO_CREDENTIALS = /^(CredentialUnavailable|Authentication|AggregateAuthentication|AuthenticationRequired)/;

/**
 * Codes that refuse a request, and what they mean
 * (https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes).
 */
const REFUSALS: readonly { readonly codes: RegExp; readonly kind: StorageErrorKind; readonly text: string }[] = [
  {
    codes: /^(ContainerNotFound|ContainerBeingDeleted)$/,
    kind: 'lost',
    text: 'does not exist. Create it, with "az storage container create" for example',
  },
  {
    codes: /Quota|CapacityExceeded|InsufficientStorage|AtSizeLimit/,
    kind: 'full',
    text: 'has no room left for this',
  },
  { codes: /^Lease/, kind: 'denied', text: 'has a lease of another program on this blob: end the lease' },
  { codes: /Immutab/, kind: 'denied', text: 'has a policy or a legal hold that keeps its blobs as they are' },
  {
    codes:
      /^(Authenti|Authoriz|NoAuthenti|InvalidAuthenti|InsufficientAccountPermissions|AccountIsDisabled|PublicAccess)/,
    kind: 'denied',
    text: 'refuses the credentials or the right to do this',
  },
];

interface Failure {
  /** Code of the service's response, or of the failed connection. */
  readonly code: string | undefined;
  readonly name: string;
  readonly message: string;
  readonly status: number | undefined;
}

function read(error: unknown): Failure {
  const { name, message, code, statusCode } = (error ?? {}) as Record<
    'name' | 'message' | 'code' | 'statusCode',
    unknown
  >;
  return {
    code: typeof code === 'string' ? nameOf(code) : undefined,
    name: nameOf(name),
    message: typeof message === 'string' ? message : '',
    status: typeof statusCode === 'number' ? statusCode : undefined,
  };
}

export function isNotModified(error: unknown): boolean {
  return read(error).status === 304;
}

/** Reports whether a blob does not exist. A container that does not exist has another code. */
export function isMissing(error: unknown): boolean {
  const { code, status } = read(error);
  return code === 'BlobNotFound' || (status === 404 && code === undefined);
}

export function isPastEnd(error: unknown): boolean {
  return read(error).status === 416;
}

/** Reports whether the condition of a request did not hold. It was sent once, so it cannot have lost to itself. */
export function isLostRace(error: unknown): boolean {
  const { code, status } = read(error);
  if (code !== undefined) return LOST_RACE.test(code);
  return status !== undefined && LOST_RACE_STATUSES.includes(status);
}

/**
 * Converts an SDK error. A refused request did not happen. After a failure that may pass (no status, 408, 429, another
 * 5xx than 507) it may have happened, unless the connection or the credential failed before the request was sent.
 */
export function toStorageError(error: unknown, container: string): StorageError {
  const { code, name, message, status } = read(error);
  const cause = causeOf({ name: code ?? name, message, $metadata: { httpStatusCode: status } });
  const refuse = (kind: StorageErrorKind, text: string): StorageError =>
    new StorageError(kind, `The container ${quote(container)} ${text}`, {
      retryable: false,
      mayHaveHappened: false,
      cause,
    });
  const refusal = REFUSALS.find(({ codes }) => code !== undefined && codes.test(code));
  if (refusal !== undefined) return refuse(refusal.kind, refusal.text);
  if (status === 507) return refuse('full', 'has no room left for this');
  if (status === 401 || status === 403) return refuse('denied', 'refuses the credentials or the right to do this');
  if (NO_CREDENTIALS.test(name)) {
    if (status === undefined || status === 400)
      return refuse('denied', 'cannot be used: the credential of the client gives no token');
    const text = `The token service of the client's credential failed (HTTP ${status})`;
    return new StorageError('unavailable', text, { mayHaveHappened: false, cause });
  }
  const said = `Azure Blob Storage failed: ${cause.message}`;
  const mayPass = status === undefined || status >= 500 || status === 408 || status === 429;
  if (!mayPass) return new StorageError('unavailable', said, { retryable: false, mayHaveHappened: false, cause });
  const isUnsent = status === undefined && code !== undefined && UNSENT.test(code);
  return new StorageError('unavailable', said, { cause, ...(isUnsent && { mayHaveHappened: false }) });
}
