import { describe, expect, it } from 'vitest';
import * as object from './durable-object-errors.js';
import { DurableObjectStorage } from './durable-object-storage.js';
import * as bucket from './r2-errors.js';
import { R2Storage } from './r2-storage.js';

/** Texts as R2's manual and workerd have them. */
describe('An error of R2', () => {
  it.each([
    ['get: The specified bucket does not exist. (10006)', 'lost', false, false],
    ['put: Access Denied. (10003)', 'denied', false, false],
    ['delete: The object is locked by the bucket policy (10069)', 'denied', false, false],
    ['put: Reduce your concurrent request rate for the same object. (10058)', 'unavailable', false, true],
    ['put: We encountered an internal error. Please try again. (10001)', 'unavailable', true, true],
    ['Network connection lost.', 'unavailable', true, true],
  ])('%s', (message, kind, mayHaveHappened, retryable) => {
    const cause = new Error(message);
    expect(bucket.toStorageError(cause)).toMatchObject({ kind, mayHaveHappened, retryable, cause });
  });

  it('that is a TypeError stays one', () => {
    const error = new TypeError('Incorrect type for the key');
    expect(bucket.toStorageError(error)).toBe(error);
  });
});

describe('An error of a Durable Object', () => {
  it.each([
    ['database or disk is full: SQLITE_FULL', 'full'],
    ['string or blob too big: SQLITE_TOOBIG', 'full'],
    ['database disk image is malformed: SQLITE_CORRUPT', 'corrupt'],
    ['no such table: scratchfs_heads: SQLITE_ERROR', 'lost'],
    ['no such table: others: SQLITE_ERROR', 'unavailable'],
  ])('%s', (message, kind) => {
    const error = object.toStorageError(new Error(message));
    expect(error).toMatchObject({ kind, mayHaveHappened: false, retryable: false });
  });
});

describe('A storage', () => {
  it.each([
    ['a bucket', () => new R2Storage({} as never), /needs a bucket that is bound .* no head\(\)/],
    ['a bucket', () => R2Storage.list(undefined as never), /needs a bucket/],
    ['ctx.storage', () => new DurableObjectStorage({} as never), /needs the storage of a Durable Object/],
    ['a possible name', () => new DurableObjectStorage(state, { name: '../x' }), /cannot be the name/],
    ['known options', () => new DurableObjectStorage(state, { nmae: 'x' } as never), /nmae/],
  ])('needs %s', (_, create, message) => {
    expect(create).toThrow(message);
  });
});

const state = { transactionSync: () => undefined } as never;
