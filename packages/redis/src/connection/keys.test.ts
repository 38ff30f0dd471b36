import { describe, expect, it } from 'vitest';
import { keysOf } from './keys.js';

describe('keysOf()', () => {
  it('puts all keys of a namespace under its hash tag', () => {
    const { results, ...keys } = keysOf('p:', 'ns', 'user:');
    for (const key of [...Object.values(keys), results('c')]) expect(key).toMatch(/^user:p:\{ns\}:/);
    expect(new Set([...Object.values(keys), results('c')]).size).toBe(6);
  });

  it('rejects a namespace that would break the hash tag', () => {
    for (const namespace of ['', '{', 'a}b', 'a\nb', 'x'.repeat(201), '\ud800'])
      expect(() => keysOf('', namespace)).toThrow(RangeError);
    expect(() => keysOf('', 5 as unknown as string)).toThrow(TypeError);
  });
});
