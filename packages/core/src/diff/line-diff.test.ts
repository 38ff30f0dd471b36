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

/** Removed and added lines of the shortest way, by the table of all prefixes. */
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
  test('leads from one text to the other by the fewest lines', () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const changes = diffLines(a, b);
        expect(apply(a, b, changes)).toEqual(b);
        expect(cost(changes)).toBe(shortest(a, b));
      }),
      { numRuns: 1000 },
    );
  });

  test('is right with any limit of its work', () => {
    fc.assert(
      fc.property(pair, fc.nat(40), ([a, b], maxWork) => {
        expect(apply(a, b, diffLines(a, b, { maxWork }))).toEqual(b);
      }),
      { numRuns: 500 },
    );
  });

  test('names changes by their lines, apart from each other', () => {
    expect(diffLines(['a', 'b', 'c'], ['a', 'x', 'c', 'd'])).toEqual([
      { aStart: 1, aEnd: 2, bStart: 1, bEnd: 2 },
      { aStart: 3, aEnd: 3, bStart: 3, bEnd: 4 },
    ]);
    expect(diffLines(['a'], ['a'])).toEqual([]);
    expect(diffLines([], [])).toEqual([]);
    expect(diffLines([], ['__proto__'])).toEqual([{ aStart: 0, aEnd: 0, bStart: 0, bEnd: 1 }]);
  });

  test('shows an addition as far down as it goes, as diff does', () => {
    expect(diffLines(['{', 'x', '}'], ['{', 'x', '}', '{', 'x', '}'])).toEqual([
      { aStart: 3, aEnd: 3, bStart: 3, bEnd: 6 },
    ]);
    expect(diffLines(['a', 'a', 'b'], ['a', 'b'])).toEqual([{ aStart: 1, aEnd: 2, bStart: 1, bEnd: 1 }]);
  });

  test('bounds its work where nearly everything differs', () => {
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
  }, 30_000);

  test('refuses a limit that is none', () => {
    for (const maxWork of [-1, 0.5, Number.NaN]) expect(() => diffLines([], [], { maxWork })).toThrow(RangeError);
  });
});
