import { isStorageError } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { toStorageError } from './postgres-errors.js';

const outcomeOf = (code: string): unknown => {
  const error = toStorageError(Object.assign(new Error('failed'), { code }));
  return isStorageError(error) ? error.mayHaveHappened : 'no storage error';
};

describe('the outcome of a failed statement', () => {
  it.each(['EPIPE', 'EPERM', 'ECONNRESET', '08006', '40003', '57P01'])('is open after %s', (code) => {
    expect(outcomeOf(code)).toBe(true);
  });

  it.each(['23505', '40001', '53100', 'P0001', 'XX000'])('is that nothing has changed after SQLSTATE %s', (code) => {
    expect(outcomeOf(code)).toBe(false);
  });
});
