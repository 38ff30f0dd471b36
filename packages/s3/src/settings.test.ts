import { inspect } from 'node:util';
import { StorageError } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { ConditionProbe } from './condition-probe.js';
import { parseOptions, type S3StorageOptions } from './options.js';
import { isSurelyLostRace, toStorageError } from './s3-errors.js';
import { S3Storage } from './s3-storage.js';
import { SingleWriter } from './single-writer.js';

describe('Options', () => {
  it('are validated, and inherited ones are ignored', () => {
    expect(parseOptions({ prefix: 'a' }).prefix).toBe('a/');
    expect(parseOptions(Object.create({ prefix: 'a' }) as S3StorageOptions).prefix).toBe('');
    const open = (options: unknown) => () => new S3Storage('s3://bucket', options as S3StorageOptions);
    for (const wrong of [{ unknown: 1 }, { prefix: 5 }, { singleWriter: 'yes' }, { timeoutMs: '5' }, { create: 1 }, 7])
      expect(open(wrong)).toThrow(TypeError);
    expect(open({ unknown: 1 })).toThrow(
      "S3Storage has no option 'unknown'. It takes bucket, prefix, singleWriter, create",
    );
    for (const wrong of [{ timeoutMs: 0 }, { maxStalenessMs: -1 }, { retries: 0.5 }, { maxCacheBytes: -1 }])
      expect(open(wrong)).toThrow(RangeError);
  });

  it('must name a bucket with a client, and are refused with a URL', () => {
    const client = { send: () => {} } as never;
    expect(() => new S3Storage(client)).toThrow('needs a bucket');
    expect(() => new S3Storage({} as never, { bucket: 'b' })).toThrow('needs an S3Client');
    expect(() => new S3Storage('s3://bucket', { prefix: 'x' })).toThrow('leave the options out');
  });
});

describe('Errors of the SDK', () => {
  const sdkError = (name: string, status?: number, message = 'text') =>
    Object.assign(new Error(message), { name, $metadata: { httpStatusCode: status } });

  it.each([
    ['SlowDown', 503, 'unavailable', true],
    ['InternalError', 500, 'unavailable', true],
    ['RequestTimeout', 400, 'unavailable', true],
    ['TimeoutError', undefined, 'unavailable', true],
    ['NoSuchBucket', 404, 'unavailable', false],
    ['RequestTimeTooSkewed', 403, 'unavailable', false],
    ['SignatureDoesNotMatch', 403, 'denied', false],
    ['AccessDenied', 403, 'denied', false],
    ['InvalidToken', 401, 'denied', false],
    ['CredentialsProviderError', undefined, 'denied', false],
    ['QuotaExceeded', 403, 'full', false],
    ['XMinioStorageFull', 507, 'full', false],
    ['NotImplemented', 501, 'unsupported', false],
  ])('%s (%s) is %s, retryable: %s', (name, status, kind, retryable) => {
    const error = toStorageError(sdkError(name, status), 'bucket');
    expect([error.kind, error.retryable]).toEqual([kind, retryable]);
  });

  it.each([
    ['NoSuchBucket', 404, false],
    ['AccessDenied', 403, false],
    ['InvalidRequest', 400, false],
    ['CredentialsProviderError', undefined, false],
    ['NotImplemented', 501, false],
    ['InternalError', 500, true],
    ['TimeoutError', undefined, true],
  ])('%s (%s) says whether the request may have happened: %s', (name, status, mayHaveHappened) => {
    expect(toStorageError(sdkError(name, status), 'bucket').mayHaveHappened).toBe(mayHaveHappened);
  });

  it('say that the request may have happened if only the last attempt was refused', () => {
    for (const [name, status] of [
      ['AccessDenied', 403],
      ['NotImplemented', 501],
    ] as const) {
      const error = Object.assign(new Error(name), { name, $metadata: { httpStatusCode: status, attempts: 2 } });
      expect(toStorageError(error, 'bucket').mayHaveHappened).toBe(true);
    }
  });

  it('say that a swap is a lost race only if it was sent once', () => {
    const refusal = (attempts: number) =>
      Object.assign(new Error('No'), { name: 'PreconditionFailed', $metadata: { httpStatusCode: 412, attempts } });
    expect([isSurelyLostRace(refusal(1)), isSurelyLostRace(refusal(2))]).toEqual([true, false]);
    expect(toStorageError(refusal(2), 'bucket')).toMatchObject({ retryable: true, mayHaveHappened: true });
  });

  it.each([
    ['InvalidAccessKeyId', 403, 'AKIA-SECRET is unknown'],
    ['AuthorizationHeaderMalformed', 400, 'the value AKIA-SECRET is mal-formed'],
    // @aws-sdk/credential-provider-process builds this message from an error of child_process.exec.
    ['CredentialsProviderError', undefined, 'vault-aws --key AKIA-SECRET read: denied'],
    ['TokenProviderError', undefined, 'AKIA-SECRET has expired'],
    ['Error', undefined, 'Command failed: vault-aws --key AKIA-SECRET read\ndenied'],
    ['TypeError', undefined, 'Failed to parse URL from https://me:AKIA-SECRET@host'],
  ])('that mention credentials are not passed on: %s (%s)', (name, status, message) => {
    const error = toStorageError(sdkError(name, status, message), 'bucket');
    expect(inspect(error, { depth: Infinity })).not.toContain('AKIA');
  });

  it('of commands and credential providers are not passed on, whatever their names are', () => {
    for (const field of ['cmd', 'spawnargs', 'tryNextLink']) {
      const thrown = Object.assign(sdkError('Error', undefined, 'AKIA-SECRET'), { [field]: 'AKIA-SECRET' });
      expect(inspect(toStorageError(thrown, 'bucket'), { depth: Infinity })).not.toContain('AKIA');
    }
  });

  it('have no control characters and a bounded length, whatever the store sends', () => {
    const name = `Bad\u001b[31m\u202e${'x'.repeat(10_000)}`;
    for (const status of [undefined, 403, 500]) {
      const error = toStorageError(sdkError(name, status, 'what\u001b[31m\nit\u0000says'), 'bucket\u0007');
      for (const text of [error.message, String(error.cause)]) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
        expect(text).not.toMatch(/[\u0000-\u001f\u202e]/);
        expect(text.length).toBeLessThan(700);
      }
    }
  });

  it('that describe other failures are passed on', () => {
    const error = toStorageError(sdkError('Error', undefined, 'connect ECONNREFUSED 127.0.0.1:9000'), 'bucket');
    expect(String(error.cause)).toContain('ECONNREFUSED');
  });
});

describe('The probe of conditional writes', () => {
  /** Returns a store that keeps one object, and respects the given conditions. */
  function store(holdsTo: { readonly none: boolean; readonly match: boolean }, isThere = false) {
    let exists = isThere;
    let puts = 0;
    const put = async ({ IfNoneMatch }: { IfNoneMatch?: string }): Promise<boolean> => {
      puts += 1;
      const isTaken = IfNoneMatch === undefined ? !holdsTo.match : !(exists && holdsTo.none);
      exists ||= isTaken;
      return isTaken;
    };
    return { put, puts: () => puts };
  }

  it('passes if the store respects both, and sends its requests only once', async () => {
    const { put, puts } = store({ none: true, match: true });
    const probe = new ConditionProbe(put);
    await Promise.all([probe.passed(undefined), probe.passed(undefined)]);
    await probe.passed(undefined);
    expect(puts()).toBe(3);
  });

  it('refuses a store that ignores either, even if the probe object already exists', async () => {
    for (const isThere of [false, true]) {
      await expect(
        new ConditionProbe(store({ none: false, match: true }, isThere).put).passed(undefined),
      ).rejects.toThrow('If-None-Match');
      await expect(
        new ConditionProbe(store({ none: true, match: false }, isThere).put).passed(undefined),
      ).rejects.toThrow('If-Match');
    }
  });
});

describe('A single writer', () => {
  const bytes = new Uint8Array([1]);

  it('continues with its own heads, even if a reply was lost', () => {
    const single = new SingleWriter();
    single.willRead()(undefined);
    single.willWrite(bytes);
    single.hasWritten('a');
    single.willRead()({ tag: 'a', bytes });
    single.willWrite(new Uint8Array([2]));
    single.willRead()({ tag: 'b', bytes: new Uint8Array([2]) });
    expect(() => single.check()).not.toThrow();
  });

  it('recognizes its own heads, however late it sees them', () => {
    const single = new SingleWriter();
    const head = (byte: number) => ({ tag: `${byte}`, bytes: new Uint8Array([byte]) });
    const sawNone = single.willRead();
    single.willRead()(undefined);
    single.willWrite(head(1).bytes);
    single.hasWritten('1');
    const sawFirst = single.willRead();
    single.willWrite(head(2).bytes);
    single.willWrite(head(3).bytes);
    for (const byte of [2, 3]) single.willRead()(head(byte));
    sawNone(undefined);
    sawFirst(head(1));
    expect(() => single.check()).not.toThrow();
    single.willRead()(head(1));
    expect(() => single.check()).toThrow('Another writer');
  });

  it('remembers a bounded number of heads whose write got no reply, and none that were refused', () => {
    const head = (number: number) => ({ tag: `${number}`, bytes: new Uint8Array([number % 256, number >> 8]) });
    const writer = (): SingleWriter => {
      const single = new SingleWriter();
      single.willRead()(undefined);
      return single;
    };
    const forgetful = writer();
    for (let number = 0; number < 1_000; number++) forgetful.willWrite(head(number).bytes);
    forgetful.willRead()(head(0));
    expect(() => forgetful.check()).toThrow('Another writer');
    const mindful = writer();
    for (let number = 0; number < 1_000; number++) mindful.willWrite(head(number).bytes);
    mindful.willRead()(head(960));
    expect(() => mindful.check()).not.toThrow();
    const refused = writer();
    refused.willWrite(head(0).bytes);
    for (let number = 1; number < 1_000; number++) {
      const { bytes } = head(number);
      refused.willWrite(bytes);
      refused.wasRefused(bytes);
    }
    refused.willRead()(head(0));
    expect(() => refused.check()).not.toThrow();
  });

  it('stops for good when it sees a head that is not its own', () => {
    const single = new SingleWriter();
    single.willRead()({ tag: 'a', bytes });
    single.willRead()({ tag: 'foreign', bytes: new Uint8Array([9]) });
    expect(() => single.check()).toThrow(StorageError);
    single.willRead()({ tag: 'a', bytes });
    expect(() => single.check()).toThrow('Another writer');
  });
});
