import { isStorageError } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { Sequences } from './commit/sequences.js';
import { toStorageError } from './connection/errors.js';
import { keysOf } from './connection/keys.js';
import { describeLoss, parseInfo } from './connection/server-info.js';
import { parseUrl } from './connection/url.js';
import { parseOptions } from './options.js';

describe('keys', () => {
  it('all of a namespace share its hash tag', () => {
    const { results, ...keys } = keysOf('p:', 'ns', 'user:');
    for (const key of [...Object.values(keys), results('c')]) expect(key).toMatch(/^user:p:\{ns\}:/);
    expect(new Set([...Object.values(keys), results('c')]).size).toBe(6);
  });

  it('a namespace that would break the tag is refused', () => {
    for (const namespace of ['', '{', 'a}b', 'a\nb', 'x'.repeat(201), '\ud800'])
      expect(() => keysOf('', namespace)).toThrow(RangeError);
    expect(() => keysOf('', 5 as unknown as string)).toThrow(TypeError);
  });
});

describe('URLs', () => {
  it('give the server and our own options', () => {
    expect(parseUrl('rediss://u:p@host:1/2?namespace=a%20b&ttlMs=5000')).toEqual({
      server: 'rediss://u:p@host:1/2',
      options: { namespace: 'a b', ttlMs: 5000 },
    });
  });

  it('of any other form are refused without being repeated', () => {
    for (const url of [
      'redis://:secret@host/x',
      'http://secret@host',
      'secret',
      'redis://secret@host/0?nmespace=a',
      'redis://secret@host/0?ttlMs=1e3',
      'redis://user:123?secret@host/0',
      'redis://user:123?namespace=a&secret=1@host/0',
      'redis://secret@host/0?namespace=a&namespace=b',
    ]) {
      let message = '';
      try {
        parseUrl(url);
      } catch (error) {
        message = (error as TypeError).message;
      }
      expect(message, url).not.toBe('');
      expect(message).not.toContain('secret');
    }
  });
});

describe('options', () => {
  it('unknown ones, wrong kinds and absurd numbers are refused', () => {
    expect(() => parseOptions({ nmespace: 'x' } as never)).toThrow(TypeError);
    expect(() => parseOptions(null as never)).toThrow(TypeError);
    expect(() => parseOptions({ create: 'false' } as never)).toThrow(TypeError);
    for (const ttlMs of [0, 999, 1.5, Number.NaN]) expect(() => parseOptions({ ttlMs })).toThrow(RangeError);
  });

  it('those of the prototype do not count', () => {
    expect(parseOptions(Object.create({ ttlMs: 5_000 }) as object).ttlMs).toBe(0);
  });
});

describe('errors', () => {
  it('never carry what was sent', () => {
    const error = Object.assign(new Error('WRONGPASS invalid redis://user:secret@host'), {
      command: { name: 'auth', args: ['user', 'secret'] },
    });
    const shown = toStorageError(error);
    expect(JSON.stringify([shown.message, shown.cause, (shown.cause as Error).message])).not.toContain('secret');
    expect(shown.retryable).toBe(false);
  });

  it('have the kind of what went wrong', () => {
    const kind = (message: string): string => toStorageError(new Error(message)).kind;
    expect(kind('SCRATCHFS LOST object 5 is gone script: abc')).toBe('lost');
    expect(kind('SCRATCHFS CORRUPT object 5 is something else')).toBe('corrupt');
    expect(kind('OOM command not allowed')).toBe('unavailable');
    expect(kind('WRONGTYPE Operation against a key')).toBe('corrupt');
    expect(kind('Connection is closed.')).toBe('unavailable');
    expect(isStorageError(toStorageError('x'), 'unavailable')).toBe(true);
  });
});

describe('sequences', () => {
  it('tell the lowest number that is not settled, and what is below it', () => {
    const sequences = new Sequences(() => 0);
    const [one, ...others] = Array.from({ length: 17 }, () => sequences.next()) as [number, ...number[]];
    const last = sequences.next();
    for (const other of others) sequences.settle(other);
    expect(sequences.acknowledge().acknowledged).toMatchObject({ floor: 0, settled: '' });
    sequences.settle(one);
    expect(sequences.acknowledge().acknowledged).toMatchObject({ floor: last, settled: [one, ...others].join(' ') });
    expect(sequences.acknowledge().acknowledged).toMatchObject({ floor: last, settled: '' });
  });

  it('tell nothing new until there is enough of it, and again what did not arrive', () => {
    const sequences = new Sequences(() => 0);
    for (let i = 1; i <= 15; i++) sequences.settle(sequences.next());
    expect(sequences.acknowledge().acknowledged).toMatchObject({ floor: 0, settled: '' });
    sequences.settle(sequences.next());
    const first = sequences.acknowledge();
    expect(first.acknowledged.floor).toBe(17);
    first.restore();
    expect(sequences.acknowledge().acknowledged).toMatchObject({ floor: 17, settled: first.acknowledged.settled });
  });

  it('one that nobody settles is given up after a minute', () => {
    let now = 0;
    const sequences = new Sequences(() => now);
    sequences.failed(sequences.next());
    for (let i = 0; i < 16; i++) sequences.settle(sequences.next());
    sequences.next();
    expect(sequences.acknowledge().acknowledged).toMatchObject({ floor: 0, settled: '' });
    now = 60_001;
    const { floor, settled } = sequences.acknowledge().acknowledged;
    expect(floor).toBe(18);
    const inOrder = settled
      .split(' ')
      .map(Number)
      .sort((a, b) => a - b);
    expect(inOrder).toEqual(Array.from({ length: 17 }, (_, i) => i + 1));
  });

  it('tell a thousand at once, once each, where one was open for long', () => {
    const sequences = new Sequences(() => 0);
    const first = sequences.next();
    for (let i = 0; i < 2_499; i++) {
      sequences.settle(sequences.next());
      expect(sequences.acknowledge().acknowledged.settled).toBe('');
    }
    sequences.settle(first);
    const told = [1, 2, 3].map(() => sequences.acknowledge().acknowledged.settled.split(' ').map(Number));
    expect(told.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
    expect(new Set(told.flat()).size).toBe(2_500);
    expect(sequences.acknowledge().acknowledged).toMatchObject({ floor: 2_501, settled: '' });
  });
});

describe('durability', () => {
  it('is what the settings say, and unknown where they do not', () => {
    expect(describeLoss(true, 'always', '')).toBe('nothing that was acknowledged');
    expect(describeLoss(false, undefined, '')).toMatch(/^everything: /);
    expect(describeLoss(false, undefined, '60 1')).toMatch(/snapshot/);
    expect(describeLoss(undefined, undefined, undefined)).toMatch(/^unknown/);
  });

  it('INFO is read line by line', () => {
    expect(parseInfo('# Server\r\nredis_version:7.0.15\r\n\r\na:b:c\r\n')).toEqual(
      new Map([
        ['redis_version', '7.0.15'],
        ['a', 'b:c'],
      ]),
    );
  });
});
