import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffLines, type LineChange } from './line-diff.js';

function apply(a: readonly string[], b: readonly string[], changes: readonly LineChange[]): string[] {
  let result: string[] = [];
  let at = 0;
  let from = 0;
  for (const { aStart, aEnd, bStart, bEnd } of changes) {
    expect(aStart - at).toBe(bStart - from);
    result = result.concat(a.slice(at, aStart), b.slice(bStart, bEnd));
    at = aEnd;
    from = bEnd;
  }
  return result.concat(a.slice(at));
}

const cost = (changes: readonly LineChange[]) =>
  changes.reduce((sum, change) => sum + change.aEnd - change.aStart + change.bEnd - change.bStart, 0);

/**
 * Returns the number of removed and added lines of a shortest edit script, by dynamic programming over all prefixes.
 */
function shortest(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const line of a) {
    const next = [0];
    b.forEach((other, j) => {
      next.push(line === other ? (row[j] as number) + 1 : Math.max(row[j + 1] as number, next[j] as number));
    });
    row = next;
  }
  return a.length + b.length - 2 * (row[b.length] as number);
}

const lines = (letters: string[]) => fc.array(fc.constantFrom(...letters), { maxLength: 30 });
const pair = fc.oneof(
  fc.tuple(lines(['a', 'b']), lines(['a', 'b'])),
  fc.tuple(lines(['a', 'b', 'c', 'd']), lines(['b', 'c', 'd', 'e', 'f'])),
);

function milliseconds(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('diffLines', () => {
  test('turns one text into the other with the fewest changed lines', () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const changes = diffLines(a, b);
        expect(apply(a, b, changes)).toEqual(b);
        expect(cost(changes)).toBe(shortest(a, b));
      }),
      { numRuns: 1000 },
    );
  });

  test('is correct with any limit of its work', () => {
    fc.assert(
      fc.property(pair, fc.nat(40), ([a, b], maxWork) => {
        expect(apply(a, b, diffLines(a, b, { maxWork }))).toEqual(b);
      }),
      { numRuns: 500 },
    );
  });

  test('returns the changed line ranges, none adjacent to another', () => {
    expect(diffLines(['a', 'b', 'c'], ['a', 'x', 'c', 'd'])).toEqual([
      { aStart: 1, aEnd: 2, bStart: 1, bEnd: 2 },
      { aStart: 3, aEnd: 3, bStart: 3, bEnd: 4 },
    ]);
    expect(diffLines(['a'], ['a'])).toEqual([]);
    expect(diffLines([], [])).toEqual([]);
    expect(diffLines([], ['__proto__'])).toEqual([{ aStart: 0, aEnd: 0, bStart: 0, bEnd: 1 }]);
  });

  test('moves an addition as far down as possible, as diff does', () => {
    expect(diffLines(['{', 'x', '}'], ['{', 'x', '}', '{', 'x', '}'])).toEqual([
      { aStart: 3, aEnd: 3, bStart: 3, bEnd: 6 },
    ]);
    expect(diffLines(['a', 'a', 'b'], ['a', 'b'])).toEqual([{ aStart: 1, aEnd: 2, bStart: 1, bEnd: 1 }]);
  });

  test('bounds its work if nearly everything differs', () => {
    let state = 1;
    const random = (below: number) => {
      state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x297a2d39) >>> 0;
      return state % below;
    };
    const words = (count: number, different: number) => Array.from({ length: count }, () => `w${random(different)}`);
    for (const [a, b] of [
      [words(10_000, 2), words(10_000, 2)],
      [words(10_000, 300), words(10_000, 300)],
      [words(100_000, 5), words(100_000, 5)],
      [words(100_000, 1000), words(100_000, 1000)],
    ] as const) {
      let changes: LineChange[] = [];
      const limited = milliseconds(() => {
        changes = diffLines(a, b);
      });
      expect(changes.reduce((at, change) => at + change.bStart - change.bEnd + change.aEnd - change.aStart, 0)).toBe(0);
      expect(limited).toBeLessThan(2000);
    }
  });

  test('refuses an invalid limit', () => {
    for (const maxWork of [-1, 0.5, Number.NaN]) expect(() => diffLines([], [], { maxWork })).toThrow(RangeError);
  });
});
