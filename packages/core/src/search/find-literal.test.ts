import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findLiteral } from './find-literal.js';

test('finds what indexOf finds, even with many near matches', () => {
  const letters = fc.array(fc.constantFrom('a', 'b'), { maxLength: 200 }).map((list) => list.join(''));
  fc.assert(
    fc.property(letters, letters, fc.nat(50), fc.nat(40), fc.boolean(), (around, piece, from, times, isThere) => {
      const text = `${'a'.repeat(times)}${around.repeat(times)}${isThere ? piece : ''}${around}`;
      if (piece !== '') expect(findLiteral(text, piece)(from)).toBe(text.indexOf(piece, from));
    }),
    { numRuns: 2000 },
  );
});

test('searches from any position, repeatedly', () => {
  const text = 'one two three one two three one two three';
  const found = findLiteral(text, 'two three');
  expect([found(0), found(5), found(18), found(33), found(-3)]).toEqual([4, 18, 18, -1, 4]);
});

test.each([
  ['a long tail', `ab${'a'.repeat(4000)}`],
  ['a mark in the middle', `${'a'.repeat(2000)}b${'a'.repeat(2000)}`],
  ['a long head', `${'a'.repeat(4000)}b`],
])('takes linear time for %s', (_, piece) => {
  const before = process.cpuUsage();
  expect(findLiteral('a'.repeat(2_000_000), piece)(0)).toBe(-1);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(1000);
});
