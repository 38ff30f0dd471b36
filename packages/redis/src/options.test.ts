import { describe, expect, it } from 'vitest';
import { parseOptions } from './options.js';
import { RedisStorage } from './redis-storage.js';

describe('parseOptions()', () => {
  it('rejects unknown options, wrong types and numbers out of range', () => {
    expect(() => parseOptions({ nmespace: 'x' } as never)).toThrow(TypeError);
    expect(() => parseOptions(null as never)).toThrow(TypeError);
    expect(() => parseOptions({ create: 'false' } as never)).toThrow(TypeError);
    for (const ttlMs of [0, 999, 1.5, Number.NaN]) expect(() => parseOptions({ ttlMs })).toThrow(RangeError);
  });

  it('ignores inherited options', () => {
    expect(parseOptions(Object.create({ ttlMs: 5_000 }) as object).ttlMs).toBe(0);
  });
});

describe('A RedisStorage', () => {
  it.each([5, {}, null, undefined, { options: {} }])('of %j instead of a client says what it needs', (client) => {
    expect(() => new RedisStorage(client as never)).toThrow('needs a client of ioredis (5 or 6) or a redis:// URL');
  });
});
