import { RestError } from '@azure/storage-blob';
import { expect, it } from 'vitest';
import { isLostRace, isMissing, toStorageError } from './azure-errors.js';

const failure = (code: string | undefined, statusCode?: number, message = 'no'): RestError =>
  new RestError(message, { ...(code !== undefined && { code }), ...(statusCode !== undefined && { statusCode }) });

it.each([
  ['ConditionNotMet', 412, true],
  ['BlobAlreadyExists', 409, true],
  ['BlobNotFound', 404, true],
  [undefined, 412, true],
  [undefined, 409, true],
  ['LeaseIdMissing', 412, false],
  ['BlobImmutableDueToPolicy', 409, false],
  ['ContainerBeingDeleted', 409, false],
  ['ContainerNotFound', 404, false],
  ['ServerBusy', 503, false],
])('%s (%s) is a lost race: %s', (code, status, isLost) => {
  expect(isLostRace(failure(code, status))).toBe(isLost);
});

it('only a missing blob is missing', () => {
  expect([isMissing(failure('BlobNotFound', 404)), isMissing(failure('ContainerNotFound', 404))]).toEqual([
    true,
    false,
  ]);
});

it.each([
  ['ContainerNotFound', 404, { kind: 'lost', retryable: false, mayHaveHappened: false }],
  ['ContainerBeingDeleted', 409, { kind: 'lost', retryable: false, mayHaveHappened: false }],
  ['LeaseIdMissing', 412, { kind: 'denied', retryable: false, mayHaveHappened: false }],
  ['BlobImmutableDueToPolicy', 409, { kind: 'denied', retryable: false, mayHaveHappened: false }],
  ['AuthorizationPermissionMismatch', 403, { kind: 'denied', retryable: false, mayHaveHappened: false }],
  [undefined, 403, { kind: 'denied', retryable: false, mayHaveHappened: false }],
  [undefined, 507, { kind: 'full', retryable: false, mayHaveHappened: false }],
  ['InvalidHeaderValue', 400, { kind: 'unavailable', retryable: false, mayHaveHappened: false }],
  ['ServerBusy', 503, { kind: 'unavailable', retryable: true, mayHaveHappened: true }],
  ['OperationTimedOut', 500, { kind: 'unavailable', retryable: true, mayHaveHappened: true }],
  [undefined, 429, { kind: 'unavailable', retryable: true, mayHaveHappened: true }],
  ['ECONNRESET', undefined, { kind: 'unavailable', retryable: true, mayHaveHappened: true }],
  ['ECONNREFUSED', undefined, { kind: 'unavailable', retryable: true, mayHaveHappened: false }],
  ['ENOTFOUND', undefined, { kind: 'unavailable', retryable: true, mayHaveHappened: false }],
])('%s (%s) becomes %j', (code, status, expected) => {
  expect(toStorageError(failure(code, status), 'agents')).toMatchObject(expected);
});

it('credentials that give no token are denied, and no message of the service with a signature is quoted', () => {
  const noToken = Object.assign(new Error('az login'), { name: 'CredentialUnavailableError' });
  expect(toStorageError(noToken, 'agents')).toMatchObject({ kind: 'denied', mayHaveHappened: false });
  const refused = Object.assign(new Error('invalid_client'), { name: 'AuthenticationError', statusCode: 400 });
  expect(toStorageError(refused, 'agents')).toMatchObject({ kind: 'denied', mayHaveHappened: false });
  const { message, cause } = toStorageError(failure('X', 500, 'https://a.b/c?sv=1&sig=abc'), 'agents');
  expect(`${message} ${String(cause)}`).not.toContain('abc');
});

it.each([429, 503])('a token service that fails with %s may work again, and the request was not sent', (statusCode) => {
  const failed = Object.assign(new Error('busy'), { name: 'AuthenticationError', statusCode });
  const passing = { kind: 'unavailable', retryable: true, mayHaveHappened: false, message: /token service/ };
  expect(toStorageError(failed, 'agents')).toMatchObject(passing);
});
