import { describe, expect, test } from 'vitest';
import { createMatcher, type LineMatcher } from './line-matcher.js';

describe('createMatcher', () => {
  test('finds every occurrence of literal text, without overlap', () => {
    expect(createMatcher('aa').find('aaaaa')).toEqual([
      { start: 0, end: 2 },
      { start: 2, end: 4 },
    ]);
    expect(createMatcher('a.c').find('abc')).toBeNull();
    expect(createMatcher('$&*(').find('x $&*( y')).toEqual([{ start: 2, end: 6 }]);
  });

  test('ignores case by Unicode, at the same positions', () => {
    const ranges = (query: string, line: string) => createMatcher(query, { ignoreCase: true }).find(line);
    expect(ranges('HeLLo', 'say hEllO')).toEqual([{ start: 4, end: 9 }]);
    expect(ranges('ÄÖ', 'xäö')).toEqual([{ start: 1, end: 3 }]);
    expect(ranges('x', 'İİİX')).toEqual([{ start: 3, end: 4 }]);
    expect(ranges('ΟΔΟΣ', 'οδοσήμανση οδος')).toEqual([
      { start: 0, end: 4 },
      { start: 11, end: 15 },
    ]);
    expect(createMatcher('a').find('A')).toBeNull();
  });

  test('accepts a matcher of the caller and checks its results', () => {
    const digits: LineMatcher = {
      find: (line) => (line.includes('7') ? [{ start: line.indexOf('7'), end: line.length }] : null),
    };
    expect(createMatcher(digits).find('a7b')).toEqual([{ start: 1, end: 3 }]);
    expect(createMatcher({ find: () => [] }).find('a')).toBeNull();
    for (const answer of [
      [{ start: 0, end: 9 }],
      [{ start: 2, end: 1 }],
      [{ start: -1, end: 1 }],
      [{ start: 0.5, end: 1 }],
      'x',
    ]) {
      expect(() => createMatcher({ find: () => answer as never }).find('abc')).toThrow(TypeError);
    }
  });

  test('refuses a RegExp and says what to use', () => {
    expect(() => createMatcher(/a/ as unknown as LineMatcher)).toThrow(/exponential.*literal text.*re2js/);
  });

  test('refuses invalid queries', () => {
    for (const query of [undefined, null, 1, {}, []]) expect(() => createMatcher(query as never)).toThrow(TypeError);
    for (const query of ['', 'a\nb', 'a\r', 'a'.repeat(4097)]) expect(() => createMatcher(query)).toThrow(RangeError);
    expect(() => createMatcher({ find: () => null }, { ignoreCase: true })).toThrow(TypeError);
  });

  test('bounds the number of ranges in one line', () => {
    expect(createMatcher('a').find('a'.repeat(5000))).toHaveLength(1000);
  });
});
