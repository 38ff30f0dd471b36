import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob } from './glob-pattern.js';

type Picomatch = (pattern: string, options: Record<string, boolean>) => (path: string) => boolean;
const { default: picomatch } = (await import('picomatch' as string)) as { default: Picomatch };

const matches = (pattern: string, path: string, isDirectory = false) => compileGlob(pattern).matches(path, isDirectory);

describe('compileGlob', () => {
  test.each([
    ['*.ts', ['a.ts', 'a.b.ts'], ['a.tsx', 'x/a.ts', '.a.ts']],
    ['a?c', ['abc', 'a💡c', 'a.c'], ['ac', 'a/c', 'abbc']],
    ['?bc', ['abc'], ['.bc']],
    ['[abc]x', ['ax', 'cx'], ['dx', '.x']],
    ['[a-c]', ['b'], ['d', '-']],
    ['[!a-c]', ['d', '!'], ['b', '.', '/']],
    ['[^a]', ['b'], ['a']],
    ['[]a]', [']', 'a'], ['b']],
    ['[a-]', ['a', '-'], ['b']],
    ['[α-ω💡]', ['β', '💡'], ['a']],
    ['a[+-1]b', ['a-b', 'a.b'], ['a/b']],
    ['a[b', ['a[b'], ['ab']],
    ['a[b/c]d', ['a[b/c]d'], ['abd', 'acd']],
    ['[*][?][[][{]', ['*?[{'], ['abcd']],
    ['**', ['a', 'a/b', 'a/b/c'], ['.a', 'a/.b', '.a/b']],
    ['**/a', ['a', 'x/a', 'x/y/a'], ['b', 'xa', '.x/a']],
    ['a/**', ['a/b', 'a/b/c'], ['a', 'b', 'ab/c', 'a/.b', 'a/b/.c']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['ab', 'a/xb', 'a/.x/b']],
    ['**/.git/**', ['.git/a', 'x/.git/a/b'], ['git/a', '.git/.a']],
    ['a**b', ['ab', 'axb'], ['a/b']],
    ['**a', ['a', 'xa'], ['x/a', 'x/ya']],
    ['***', ['a'], ['a/b']],
    ['.*', ['.a', '.a.b'], ['a']],
    ['*.b', ['a.b'], ['.b']],
    ['{.,}*', ['.a', 'a'], []],
    ['*{a,.b}', ['a', 'x.b'], ['.b']],
    ['{a,b}/{c,d}', ['a/c', 'b/d'], ['a/b', 'c/d']],
    ['a{,b}', ['a', 'ab'], ['abb']],
    ['a{,/**}', ['a', 'a/b/c'], ['ab']],
    ['{a/,b}**', ['a/x/y', 'b', 'bx'], ['a', 'b/x', 'bx/y']],
    ['{a,b{c,d{e,f}}}', ['a', 'bc', 'bde', 'bdf'], ['b', 'bd']],
    ['{src,lib/**}/*.js', ['src/a.js', 'lib/a.js', 'lib/x/y/a.js'], ['src/x/a.js']],
    ['{a}', ['{a}'], ['a']],
    ['{a,b', ['{a,b'], ['a']],
    ['a,b}', ['a,b}'], ['a']],
    ['{a,{b}', ['{a,{b}'], ['a', 'b']],
    ['{[,],a}', [',', 'a'], ['[', ']']],
    ['{1..3}', ['1', '2', '3'], ['0', '4', '1..3']],
    ['f{08..10}', ['f08', 'f09', 'f10'], ['f8', 'f7', 'f11']],
    ['{-1..1}', ['-1', '0', '1'], ['2']],
    ['{5..1..2}', ['5', '3', '1'], ['4', '2']],
    ['{a..c}x', ['ax', 'bx', 'cx'], ['dx', 'Ax']],
    ['{a..}', ['{a..}'], ['a']],
    ['!a', ['!a'], ['b']],
    ['@(a|b)', ['a', 'b'], ['@(a|b)', 'ab', 'c']],
    ['x?(a|b)', ['x', 'xa', 'xb'], ['xab']],
    ['x*(a|bc)', ['x', 'xa', 'xaabca'], ['xb', 'xc']],
    ['+(a|b).ts', ['a.ts', 'abba.ts'], ['.ts', 'c.ts']],
    ['*.@(test|spec).?(c|m)[jt]s', ['a.test.ts', 'b.spec.mjs'], ['a.ts', 'a.test.tsx']],
    ['@(src|lib/**)/*.js', ['src/a.js', 'lib/x/y/a.js'], ['src/x/a.js']],
    ['@(a|+(b|@(c|d{e,f})))', ['a', 'bcb', 'dedfb'], ['ab', 'de_']],
    ['*(*.a|b)', ['x.a', 'bx.a', 'b'], ['c']],
    ['*(a|**)/b', ['x/b', 'aaa/b'], ['x/y/b']],
    ['@(a,b|c)', ['a,b', 'c'], ['a', 'b']],
    ['{a|b,c}', ['a|b', 'c'], ['a', 'b']],
    ['@(a{b|c)', ['a{b', 'c'], ['a']],
    ['{a@(b,c}', ['a@(b', 'c'], ['ab']],
    ['@(a(b)|c)', ['a(b)', 'c'], ['ab']],
    ['@(a|b', ['@(a|b'], ['a']],
    ['(a|b)', ['(a|b)'], ['a']],
    ['[@](a)', ['@(a)'], ['a']],
    ['a|b', ['a|b'], ['a']],
    ['!(a', ['!(a'], ['b']],
    ['src\\*.ts', ['src/a.ts'], ['src*.ts', 'src\\a.ts']],
    ['./a//b/./*', ['a/b/c'], ['a/c']],
    ['a/../b/*', ['b/c'], ['a/c']],
    ['../../a', ['a'], []],
    ['/a', ['a'], []],
    ['__proto__/*', ['__proto__/constructor'], ['x/y']],
  ])('%s matches as a shell would', (pattern, yes, no) => {
    const glob = compileGlob(pattern);
    for (const path of yes) expect(`${path}: ${glob.matches(path)}`).toBe(`${path}: true`);
    for (const path of no) expect(`${path}: ${glob.matches(path)}`).toBe(`${path}: false`);
  });

  test('with dot, wildcards match a leading dot', () => {
    for (const [pattern, path] of [
      ['*', '.a'],
      ['?a', '.a'],
      ['[.]a', '.a'],
      ['**', '.a/.b'],
      ['a/**/b', 'a/.x/b'],
      ['*.b', '.b'],
    ] as const) {
      expect(compileGlob(pattern, { dot: true }).matches(path)).toBe(true);
      expect(compileGlob(pattern).matches(path)).toBe(false);
    }
  });

  test('a slash at the end, and an empty tail of a globstar, match directories only', () => {
    for (const pattern of ['a/', 'a/**', 'a/**/', 'a/.', '{a/,b}', './a//']) {
      expect(matches(pattern, 'a', true)).toBe(true);
      expect(matches(pattern, 'a', false)).toBe(false);
    }
    for (const pattern of ['a/*', 'a/?', 'a/*/', 'a/**/b', 'a/*/**']) expect(matches(pattern, 'a', true)).toBe(false);
  });

  test('reports which directories a walk must enter', () => {
    const glob = compileGlob('src/*/lib/**/*.{ts,js}');
    for (const directory of ['', 'src', 'src/a', 'src/a/lib', 'src/a/lib/x/y'])
      expect(glob.mayMatchBelow(directory)).toBe(true);
    for (const directory of ['lib', 'src/.a', 'src/a/b', 'src/a/lib/.x'])
      expect(glob.mayMatchBelow(directory)).toBe(false);
    expect(compileGlob('*.ts').mayMatchBelow('a')).toBe(false);
    expect(compileGlob('a').mayMatchBelow('a')).toBe(false);
  });

  test('returns the literal directories to start at', () => {
    const bases = {
      'src/lib/*.ts': 'src/lib',
      '*.ts': '',
      'a/b': 'a',
      a: '',
      'a/**': 'a',
      'a/b?/c': 'a',
      '{a,b}/c': '',
      'a/{b,c}/d': 'a',
      'a/': 'a',
      '/x/y/*': 'x/y',
    };
    for (const [pattern, base] of Object.entries(bases))
      expect([pattern, compileGlob(pattern).base]).toEqual([pattern, base]);
  });

  test('refuses invalid patterns, and those that exceed a limit', () => {
    expect(() => compileGlob(undefined as unknown as string)).toThrow(TypeError);
    expect(() => compileGlob('a\0')).toThrow(TypeError);
    expect(() => compileGlob('\ud800')).toThrow('EINVAL');
    expect(() => compileGlob('')).toThrow(RangeError);
    expect(() => compileGlob('a/*/..')).toThrow(RangeError);
    expect(() => compileGlob('a'.repeat(4097))).toThrow(/4096/);
    expect(() => compileGlob(`{${'a,'.repeat(1000)}}`)).toThrow(/1000/);
    expect(() => compileGlob('{1..1001}')).toThrow(/1000/);
    expect(() => compileGlob('{1..100000000000000}')).toThrow(/1000/);
    expect(() => compileGlob(`${'{a,'.repeat(40)}${'}'.repeat(40)}`)).toThrow(/32/);
    expect(() => compileGlob(`${'@(a|'.repeat(40)}${')'.repeat(40)}`)).toThrow(/32/);
    expect(() => compileGlob(`@(${'a|'.repeat(1000)})`)).toThrow(/1000/);
    for (const pattern of ['!(a|b)', '*.!(ts)', '@(a|!(b))'])
      expect(() => compileGlob(pattern)).toThrow(/!\(…\).*exclude/);
    expect(compileGlob('{1..1000}').matches('777')).toBe(true);
    expect(compileGlob('a'.repeat(4096)).matches('a'.repeat(4096))).toBe(true);
  });

  test.each([
    ['braces twenty times', '{a,b}'.repeat(20), 'ab'.repeat(10), true],
    ['stars and no end', `${'a*'.repeat(40)}b`, 'a'.repeat(255), false],
    ['as many stars as fit', `${'a*'.repeat(2047)}b`, 'a'.repeat(255), false],
    ['globstars between names', `${'**/a/'.repeat(800)}b`, `${'a/'.repeat(300)}c`, false],
    ['globstars alone', `${'**/'.repeat(1300)}b`, `${'a/'.repeat(1000)}c`, false],
    ['stars in nested braces', `${'{*,'.repeat(32)}a${'}'.repeat(32)}b`, 'a'.repeat(255), false],
    ['open brackets', '['.repeat(4096), 'a', false],
    ['open braces', '{'.repeat(4096), 'a', false],
    ['classes', `${'[!b]'.repeat(1000)}`, 'a'.repeat(1000), true],
    ['nested repetitions', `${'+('.repeat(32)}a${')'.repeat(32)}b`, 'a'.repeat(255), false],
    ['nested repetitions of stars', `${'*(*|'.repeat(32)}a${')'.repeat(32)}b`, 'a'.repeat(255), false],
    ['repetitions side by side', `${'*(a|aa)'.repeat(400)}b`, 'a'.repeat(255), false],
    ['repeated braces', `+(${'{a,aa}'.repeat(400)})b`, 'a'.repeat(255), false],
    ['open parentheses', '@('.repeat(2048), 'a', false],
    ['closed in the wrong order', '@({)}'.repeat(800), 'a', false],
  ])('takes linear time for %s', (_, pattern, path, expected) => {
    const before = process.cpuUsage();
    expect(compileGlob(pattern).matches(path)).toBe(expected);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1000);
  });

  test('evicts states instead of growing without bound', () => {
    const glob = compileGlob('**/*a?????????????????b*');
    for (let i = 0; i < 1000; i++) {
      const name = Array.from({ length: 40 }, (_, bit) => (((i * 2654435761) / 2 ** bit) % 2 < 1 ? 'a' : 'b')).join('');
      const expected = /^.*a.{17}b.*$/.test(name);
      expect(glob.matches(`x/${name}`)).toBe(expected);
    }
  });
});

/** Intended differences from picomatch: each row matches a feature of the pattern, or of pattern and path. */
const INTENDED: Record<string, (segments: string[], path: string) => boolean> = {
  'a negated class does not match a leading dot (POSIX)': (segments, path) =>
    segments.some((segment) => segment.startsWith('[^')) && /(^|\/)\./.test(path),
  'a wildcard in brackets, or after brackets that may be empty, does not match a leading dot': (segments, path) =>
    segments.some((segment) => /^(?:\{|[@?*+]\().*[*?[]/.test(segment)) && /(^|\/)\./.test(path),
  'picomatch reads a wildcard after a parenthesis as an operator of its regular expression': (segments) =>
    segments.some((segment) => /\)[?*+]/.test(segment)),
  'the empty tail of a globstar matches directories only': (segments) => segments.at(-1) === '**',
  'two stars within a segment are one star': (segments) => segments.some((segment) => /.\*\*|\*\*./.test(segment)),
};

describe('compileGlob compared with picomatch', () => {
  const plain = ['a', 'b', '.', '*', '?', '[ab]', '[^a]', '[a-c]', '{a,b}', '{ab,*c}', '{.a,b}', '-'];
  const extended = ['@(a|b)', '?(a|bc)', '*(a|b)', '+(ab|c)', '@(a|*(b|c)|.)', '?(*c)', '+([ab]|-b)', '@(.a|b)'];
  const segmentOf = (pieces: readonly string[]) =>
    fc.oneof(
      { weight: 1, arbitrary: fc.constant('**') },
      {
        weight: 3,
        arbitrary: fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 3 }).map((list) => list.join('')),
      },
    );
  const letters = fc.array(fc.constantFrom('a', 'b', 'c', '.', '-'), { minLength: 1, maxLength: 3 });
  const name = letters.map((list) => list.join('')).filter((text) => text !== '.' && text !== '..');
  const patternOf = (pieces: readonly string[]) =>
    fc.array(
      segmentOf(pieces).filter((text) => text !== '.' && text !== '..'),
      { minLength: 1, maxLength: 3 },
    );
  const paths = fc.array(fc.array(name, { minLength: 1, maxLength: 3 }), { minLength: 10, maxLength: 10 });

  test.each([
    { dot: false, noextglob: true },
    { dot: true, noextglob: true },
    { dot: false, noextglob: false },
    { dot: true, noextglob: false },
  ])('returns the same for generated patterns and paths: %o', ({ dot, noextglob }) => {
    let matched = 0;
    let excused = 0;
    fc.assert(
      fc.property(patternOf(noextglob ? plain : [...plain, ...extended]), paths, (segments, candidates) => {
        const theirs = picomatch(segments.join('/'), { dot, noextglob });
        const ours = compileGlob(segments.join('/'), { dot });
        for (const names of candidates) {
          const path = names.join('/');
          const expected = theirs(path);
          const actual = ours.matches(path);
          if (actual !== expected) {
            excused++;
            const rows = Object.keys(INTENDED).filter((row) => INTENDED[row]?.(segments, path));
            expect([segments.join('/'), path, actual, rows]).not.toEqual([segments.join('/'), path, actual, []]);
          }
          if (actual) matched++;
        }
      }),
      { numRuns: 1000 },
    );
    expect(matched).toBeGreaterThan(300);
    expect(excused).toBeLessThan(1000);
  });
});
