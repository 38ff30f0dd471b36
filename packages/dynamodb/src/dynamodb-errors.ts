import { quote, StorageError, type StorageErrorKind } from '@scratchfs/core';
import { causeOf, readFailure, wasSentAgain, wasUnsent } from '@scratchfs/core/internal';

const THROTTLED = /^(ProvisionedThroughputExceeded|Throttling|RequestLimitExceeded)/;

/** Names of errors that mean that a request was refused, the reason, and whether it may pass. */
const REFUSALS: readonly {
  readonly names: RegExp;
  readonly kind: StorageErrorKind;
  readonly text: string;
  readonly passes?: boolean;
}[] = [
  { names: /^(ItemCollectionSizeLimitExceeded|LimitExceeded)/, kind: 'full', text: 'has no room left for this' },
  {
    names:
      /^(AccessDenied|UnrecognizedClient|InvalidSignature|IncompleteSignature|MissingAuthenticationToken|ExpiredToken)/,
    kind: 'denied',
    text: 'refuses the credentials or the right to do this',
  },
  {
    names: /ProviderError$/,
    kind: 'denied',
    text: 'cannot be used: the SDK found no credentials. Give it some, by its environment variables for example',
  },
  {
    names: THROTTLED,
    kind: 'unavailable',
    text: 'has too many requests',
    passes: true,
  },
  {
    names: /^Validation/,
    kind: 'unsupported',
    text: 'refuses a request. It needs the keys "pk" (partition) and "sk" (sort), both texts',
  },
  { names: /^ResourceNotFound/, kind: 'lost', text: 'does not exist. DynamoDbStorage.createTable creates it' },
];

/** Reports whether a request was refused because the table gets too many. */
export function isThrottled(error: unknown): boolean {
  return THROTTLED.test(readFailure(error).name);
}

export function isLostRace(error: unknown): boolean {
  return readFailure(error).name === 'ConditionalCheckFailedException';
}

/** Reports a race lost to another request: the SDK sent this one only once, so it cannot have lost to itself. */
export function isSurelyLostRace(error: unknown): boolean {
  return isLostRace(error) && !wasSentAgain(error);
}

/**
 * Converts an SDK error. A request that DynamoDB refused did not happen, unless the SDK sent it more than once. After
 * any other error it may have happened, unless DynamoDB was never reached.
 */
export function toStorageError(error: unknown, table: string): StorageError {
  const { name, message, status } = readFailure(error);
  const cause = causeOf(error);
  const mayHaveHappened = wasSentAgain(error);
  const refusal = REFUSALS.find(({ names }) => names.test(name));
  if (refusal !== undefined) {
    const { kind, text, passes = false } = refusal;
    return new StorageError(kind, `The table ${quote(table)} ${text}`, { retryable: passes, mayHaveHappened, cause });
  }
  if (message.startsWith('Region is missing'))
    return new StorageError(
      'unsupported',
      'The SDK knows no region. Set AWS_REGION, or give the region in the URL (?region=eu-central-1) or to the client',
      { cause },
    );
  if (isLostRace(error))
    return new StorageError('unavailable', 'The SDK sent a request again: what became of the first is unknown', {
      cause,
    });
  const mayPass = status === undefined || status >= 500;
  return new StorageError(
    'unavailable',
    `DynamoDB failed: ${cause.message}`,
    mayPass
      ? { cause, ...(wasUnsent(error) && { mayHaveHappened: false }) }
      : { retryable: false, mayHaveHappened, cause },
  );
}
