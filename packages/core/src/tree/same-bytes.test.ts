import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sameBytes } from './same-bytes.js';

test('sameBytes compares as if zeros followed both arrays, at any alignment', () => {
  const small = fc.array(fc.constantFrom(0, 0, 0, 1), { maxLength: 12 });
  fc.assert(
    fc.property(small, small, fc.nat(14), fc.nat(3), (a, b, length, skew) => {
      const padded = (list: number[]) => [...list, ...new Array(14).fill(0)].slice(0, length).join();
      const x = new Uint8Array([...new Array(skew).fill(7), ...a]).subarray(skew);
      expect(sameBytes(x, new Uint8Array(b), length)).toBe(padded(a) === padded(b));
      expect(sameBytes(x, new Uint8Array(a), length)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
