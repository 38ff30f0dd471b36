import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { type LineMatcher, parseQuery } from './line-matcher.js';
import { isBinary, type LineMatch, LineScanner, type ScanOptions } from './line-scanner.js';

interface Settings extends Partial<ScanOptions> {
  readonly ignoreCase?: boolean;
  readonly limit?: number;
  readonly chunk?: number;
}

function scan(text: string, query: string | LineMatcher, settings: Settings = {}): LineMatch[] {
  const { context = 0, maxLineLength = 200, ignoreCase = false, limit = 1000, chunk = 64 } = settings;
  const bytes = new TextEncoder().encode(text);
  const scanner = new LineScanner(bytes, parseQuery(query, ignoreCase), { context, maxLineLength }, limit, chunk);
  const matches: LineMatch[] = [];
  for (let match = scanner.next(); match !== undefined; match = scanner.next()) if (match !== null) matches.push(match);
  return matches;
}

/** The same search, written without chunks, positions or laziness. */
function scanPlainly(text: string, query: string, context: number, limit: number) {
  const lines = text
    .split('\n')
    .map((line, i, all) => (i < all.length - 1 && line.endsWith('\r') ? line.slice(0, -1) : line));
  if (lines.at(-1) === '') lines.pop();
  return lines
    .map((line, i) => ({
      line: i + 1,
      column: line.indexOf(query) + 1,
      text: line,
      before: lines.slice(Math.max(0, i - context), i),
      after: lines.slice(i + 1, i + 1 + context),
    }))
    .filter((match) => match.column > 0)
    .slice(0, limit);
}

describe('LineScanner', () => {
  test('numbers lines and columns from one', () => {
    expect(scan('zero\none two\ntwo two', 'two')).toEqual([
      { line: 2, column: 5, text: 'one two', ranges: [{ start: 4, end: 7 }], before: [], after: [] },
      {
        line: 3,
        column: 1,
        text: 'two two',
        ranges: [
          { start: 0, end: 3 },
          { start: 4, end: 7 },
        ],
        before: [],
        after: [],
      },
    ]);
  });

  test('equals a plain search, whatever the chunks, context and line ends', () => {
    const line = fc.oneof(
      fc.constantFrom('', 'ab', 'aab', 'b', 'a\r', 'äab☃', '💡'),
      fc.string({ maxLength: 30 }).map((text) => text.replaceAll('\n', '')),
    );
    const text = fc.tuple(fc.array(line, { maxLength: 40 }), fc.constantFrom('\n', '\r\n'), fc.boolean());
    fc.assert(
      fc.property(
        text,
        fc.nat(4),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 10 }),
        ([lines, end, final], context, chunk, limit) => {
          const content = (lines.join(end) + (final ? end : '')).toWellFormed();
          const actual = scan(content, 'ab', { context, chunk, limit }).map(({ ranges: _, ...match }) => match);
          expect(actual).toEqual(scanPlainly(content, 'ab', context, limit));
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('a matcher gets each line without its line end, empty ones too', () => {
    const seen: string[] = [];
    const see: LineMatcher = {
      find(line) {
        seen.push(line);
        return null;
      },
    };
    scan('a\r\n\nb\rc\nd\r', see, { chunk: 3 });
    expect(seen).toEqual(['a', '', 'b\rc', 'd\r']);
    seen.length = 0;
    scan('', see);
    expect(seen).toEqual([]);
  });

  test('long lines are cut around the first range, and the ranges are shifted', () => {
    const [match] = scan(`${'x'.repeat(500)}needle${'y'.repeat(500)}needle`, 'needle', { maxLineLength: 40 });
    expect(match?.column).toBe(501);
    expect(match?.text).toBe(`…${'x'.repeat(17)}needle${'y'.repeat(17)}…`);
    expect(match?.ranges.map(({ start, end }) => match.text.slice(start, end))).toEqual(['needle']);
    const [whole] = scan('needle', 'needle', { maxLineLength: 6 });
    expect(whole?.text).toBe('needle');
    const [small] = scan('a needle', 'needle', { maxLineLength: 3 });
    expect(small).toMatchObject({ text: '…nee…', ranges: [{ start: 1, end: 4 }] });
  });

  test('a cut never splits a character', () => {
    for (let max = 4; max < 12; max++) {
      for (let shift = 0; shift < 3; shift++) {
        const [match] = scan(`${'-'.repeat(shift)}${'💡'.repeat(20)}ab${'💡'.repeat(20)}`, 'ab', {
          maxLineLength: max,
        });
        expect(match?.text.isWellFormed()).toBe(true);
        expect(match?.ranges.map(({ start, end }) => match.text.slice(start, end))).toEqual(['ab']);
      }
    }
  });

  test('context lines are cut too', () => {
    const [match] = scan(`${'x'.repeat(99)}\nab\n${'y'.repeat(99)}`, 'ab', { context: 1, maxLineLength: 5 });
    expect(match).toMatchObject({ before: ['xxxxx…'], after: ['yyyyy…'] });
  });

  test('ends at the limit, with the context of the last match', () => {
    const matches = scan('ab\n'.repeat(1000), 'ab', { limit: 3, context: 2, chunk: 5 });
    expect(matches.map(({ line, after }) => [line, after.length])).toEqual([
      [1, 2],
      [2, 2],
      [3, 2],
    ]);
  });

  test('malformed bytes do not hide the lines around them', () => {
    const scanner = new LineScanner(
      Uint8Array.of(0xff, 10, 97, 98, 0xc3, 10),
      parseQuery('ab'),
      { context: 0, maxLineLength: 9 },
      9,
    );
    expect(scanner.next()).toMatchObject({ line: 2, text: 'ab\ufffd' });
  });

  test('searches a large file in small steps', () => {
    const bytes = new TextEncoder().encode('nothing to see in this line\n'.repeat(100_000));
    const scanner = new LineScanner(bytes, parseQuery('NEEDLE', true), { context: 2, maxLineLength: 100 }, 9);
    let steps = 0;
    while (scanner.next() === null) steps++;
    expect(steps).toBeGreaterThan(5);
  });

  test('pauses within a chunk if a matcher is slow, and finds the same', () => {
    let now = 0;
    let lines = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    try {
      const slow: LineMatcher = {
        find(line) {
          now += 1;
          lines += 1;
          return line.endsWith('7') ? [{ start: 0, end: 1 }] : null;
        },
      };
      const bytes = new TextEncoder().encode(Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join(''));
      const scanner = new LineScanner(bytes, parseQuery(slow, false), { context: 1, maxLineLength: 100 }, 1000);
      const found: LineMatch[] = [];
      for (let before = 0, match = scanner.next(); match !== undefined; before = lines, match = scanner.next()) {
        expect(lines - before).toBeLessThan(12);
        if (match !== null) found.push(match);
      }
      expect(found.map(({ line }) => line)).toEqual(Array.from({ length: 100 }, (_, i) => i * 10 + 8));
      expect(found[0]).toMatchObject({ before: ['line 6'], after: ['line 8'] });
    } finally {
      clock.mockRestore();
    }
  });
});

test('isBinary() looks for NUL in the first 8,000 bytes', () => {
  const text = new Uint8Array(10_000).fill(97);
  expect(isBinary(text)).toBe(false);
  text[8_000] = 0;
  expect(isBinary(text)).toBe(false);
  text[7_999] = 0;
  expect(isBinary(text)).toBe(true);
});
