import { isStorageError } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { toStorageError } from './errors.js';

describe('toStorageError()', () => {
  it('returns an error without anything that was sent', () => {
    const error = Object.assign(new Error('WRONGPASS invalid redis://user:secret@host'), {
      command: { name: 'auth', args: ['user', 'secret'] },
    });
    const shown = toStorageError(error);
    expect(JSON.stringify([shown.message, shown.cause, (shown.cause as Error).message])).not.toContain('secret');
    expect(shown.retryable).toBe(false);
  });

  it.each(['u:secret@h', 'u:se@secret@h', 'u:se/secret@h', 'u:se?secret#se:secret@h', ':secret@h', 'u@v:secret@h'])(
    'shows no password of redis://%s',
    (address) => {
      const { cause } = toStorageError(new Error(`Cannot connect to redis://${address}:1/0 now, or to redis://h2:1/0`));
      expect((cause as Error).message).toBe('Cannot connect to redis://h:1/0 now, or to redis://h2:1/0');
    },
  );

  it('derives the kind from the reply', () => {
    const kind = (message: string): string => toStorageError(new Error(message)).kind;
    expect(kind('SCRATCHFS LOST object 5 is gone script: abc')).toBe('lost');
    expect(kind('SCRATCHFS CORRUPT object 5 is something else')).toBe('corrupt');
    expect(kind('OOM command not allowed')).toBe('unavailable');
    expect(kind('WRONGTYPE Operation against a key')).toBe('corrupt');
    expect(kind('Connection is closed.')).toBe('unavailable');
    expect(isStorageError(toStorageError('x'), 'unavailable')).toBe(true);
  });
});
