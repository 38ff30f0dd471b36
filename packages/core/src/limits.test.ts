import { describe, expect, it } from 'vitest';
import { givenLimits, type Limits, parseLimits } from './limits.js';
import { sample } from './testing/sample-file-system.js';

describe('limits', () => {
  it('without a value are none', () => {
    expect(givenLimits(undefined)).toEqual({});
    expect(givenLimits('stored')).toEqual({});
    expect(parseLimits({})).toEqual({});
    expect(parseLimits({ maxTotalSize: undefined, maxNodeCount: 0 })).toEqual({ maxNodeCount: 0 });
  });

  it('are a frozen copy of the given object', () => {
    const given = { maxTotalSize: 1, maxFileSize: 2, maxNodeCount: 3, maxCheckpoints: 4 };
    const limits = parseLimits(given);
    expect(limits).toEqual(given);
    expect(limits).not.toBe(given);
    expect(Object.isFrozen(limits)).toBe(true);
    expect(Object.isFrozen(givenLimits(undefined))).toBe(true);
  });

  it.each([
    [null, 'limits must be an object with maxTotalSize, maxFileSize, maxNodeCount, maxCheckpoints, not null'],
    [5, 'limits must be an object with maxTotalSize, maxFileSize, maxNodeCount, maxCheckpoints, not number'],
    ['x', 'limits must be an object with maxTotalSize, maxFileSize, maxNodeCount, maxCheckpoints, not string'],
    [{ maxSize: 1 }, "Unknown limit 'maxSize'. Known are maxTotalSize, maxFileSize, maxNodeCount, maxCheckpoints"],
    [
      { maxsize: undefined },
      "Unknown limit 'maxsize'. Known are maxTotalSize, maxFileSize, maxNodeCount, maxCheckpoints",
    ],
  ])('%j is refused', (limits, message) => {
    expect(() => parseLimits(limits as Limits)).toThrow(new TypeError(message));
  });

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '5', null, 5n, true])(
    'a value of %s is refused',
    (value) => {
      const message = `limits.maxTotalSize must be an integer from 0 to 2^53 - 1, not ${String(value)}`;
      expect(() => parseLimits({ maxTotalSize: value as number })).toThrow(new RangeError(message));
    },
  );

  it('must be a plain object: entries of an array, a map or a prototype are not silently ignored', () => {
    for (const given of [[], new Map(), Object.create({ maxTotalSize: 5 })])
      expect(() => parseLimits(given as object)).toThrow(new TypeError('limits must be a plain object'));
  });

  it('have an upper bound even if none are given, so that sums stay exact', () => {
    const fs = sample();
    for (let i = 0; i < 1023; i++) {
      fs.writeFileSync(`/${i}`, '');
      fs.truncateSync(`/${i}`, 2 ** 43);
    }
    fs.writeFileSync('/last', '');
    let refusal: unknown;
    try {
      fs.truncateSync('/last', 2 ** 43);
    } catch (error) {
      refusal = error;
    }
    const used = 1023 * 2 ** 43;
    expect(refusal).toMatchObject({
      code: 'ENOSPC',
      limit: 'maxTotalSize',
      used,
      requested: 2 ** 53,
      allowed: 2 ** 53 - 1,
    });
    fs.truncateSync('/last', 2 ** 43 - 1);
    expect(fs.statsSync().totalSize).toBe(2 ** 53 - 1);
  });
});
