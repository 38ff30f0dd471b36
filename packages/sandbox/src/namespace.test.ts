import { describe, expect, it } from 'vitest';
import { parseSandboxConfig, type SandboxConfig } from './config.js';
import { Namespace, TOP } from './namespace.js';
import { sandboxRoots } from './sandbox-root.js';

const space = (config: SandboxConfig, basePath = '/'): Namespace =>
  new Namespace(sandboxRoots(parseSandboxConfig(config), basePath));

const program = space({ root: { root: '.' } }, '/work');
const worker = space(
  { paths: { notes: { root: './notes' }, c: { root: '/data/c' }, all: { root: '..' } } },
  '/home/me',
);

describe('paths with one root', () => {
  it.each([
    ['/', '/work'],
    ['.', '/work'],
    ['/src/a.ts', '/work/src/a.ts'],
    ['src/a.ts', '/work/src/a.ts'],
    ['src\\a.ts', '/work/src/a.ts'],
    ['\\src\\a.ts', '/work/src/a.ts'],
    ['./src/./a.ts', '/work/src/a.ts'],
    ['src/../lib/a.ts', '/work/lib/a.ts'],
    ['src/sub/../../a.ts', '/work/a.ts'],
    ['/work/a', '/work/work/a'],
    ['/etc/passwd', '/work/etc/passwd'],
    ['notes:a.md', '/work/notes:a.md'],
    ['a/~/b', '/work/a/~/b'],
    ['/~', '/work/~'],
    ['/C:/x', '/work/C:/x'],
    ['...', '/work/...'],
    ['..a/b', '/work/..a/b'],
    ['.a/../b', '/work/b'],
  ])('%s leads to %s', (given, path) => expect(program.locate(given)).toBe(path));

  it.each([
    '..',
    '../x',
    '/..',
    '/../x',
    'a/../..',
    'a/../../work/x',
    './../x',
    '\\..\\x',
    'a\\..\\..\\x',
    '..\\x',
    '/./../x',
    '~',
    '~/x',
    '~root/x',
    'C:\\x',
    'c:/x',
    'C:',
    'c:x',
    '//server/share',
    '\\\\server\\share',
    '\\/x',
    '//x',
    '\\\\?\\C:\\x',
  ])('%s is outside', (given) => expect(program.locate(given)).toBeUndefined());

  it('shows a path of the filesystem as a caller would write it', () => {
    expect(program.show('/work')).toBe('/');
    expect(program.show('/work/src/a.ts')).toBe('/src/a.ts');
    expect(program.show('/worker/a.ts')).toBeUndefined();
    expect(program.show('/')).toBeUndefined();
    expect(space({ root: { root: '/' } }).show('/a')).toBe('/a');
  });

  it('accepts only absolute entries in allowlists', () => {
    expect(['/src', '\\src', 'src', '.'].map((entry) => program.isEntry(entry))).toEqual([true, true, false, false]);
  });
});

describe('paths with names', () => {
  it.each([
    ['notes', '/home/me/notes'],
    ['notes/', '/home/me/notes'],
    ['notes:', '/home/me/notes'],
    ['/notes', '/home/me/notes'],
    ['notes/a.md', '/home/me/notes/a.md'],
    ['/notes/a.md', '/home/me/notes/a.md'],
    ['\\notes\\a.md', '/home/me/notes/a.md'],
    ['notes:a.md', '/home/me/notes/a.md'],
    ['/notes:a.md', '/home/me/notes/a.md'],
    ['notes:/a.md', '/home/me/notes/a.md'],
    ['notes/sub:b', '/home/me/notes/sub:b'],
    ['notes:sub:b', '/home/me/notes/sub:b'],
    ['./notes/a.md', '/home/me/notes/a.md'],
    ['notes/x/../a.md', '/home/me/notes/a.md'],
    ['c:x', '/data/c/x'],
    ['c:\\x', '/data/c/x'],
    ['all/me/y', '/home/me/y'],
  ])('%s leads to %s', (given, path) => expect(worker.locate(given)).toBe(path));

  it.each(['.', '/', './', '././/.'])('%s is the top, above all names', (given) =>
    expect(worker.locate(given)).toBe(TOP),
  );

  it.each([
    '..',
    '/..',
    'notes/..',
    'notes/../c/x',
    'notes:..',
    'notes:../c',
    'notes/a/../../c',
    'x',
    'x/a',
    'other:a',
    'd:x',
    '~/notes',
    '//notes/a',
    '\\\\notes\\a',
    'Notes/a',
    'notes.md',
    '__proto__',
    'constructor/x',
    ':a',
    ':',
    'notes x',
  ])('%s is outside', (given) => expect(worker.locate(given)).toBeUndefined());

  it('shows a path under the innermost root that contains it', () => {
    expect(worker.show('/home/me/notes/a')).toBe('notes/a');
    expect(worker.show('/home/me/notes')).toBe('notes');
    expect(worker.show('/home/me/x')).toBe('all/me/x');
    expect(worker.show('/home')).toBe('all');
    expect(worker.show('/data/cc')).toBeUndefined();
  });

  it('accepts any form as an entry of an allowlist', () => {
    expect(['notes', 'notes/a', 'notes:a'].every((entry) => worker.isEntry(entry))).toBe(true);
  });
});

describe('text that is not a path', () => {
  it.each([
    ['a lone surrogate', 'a\ud800', 'EINVAL'],
    ['a number', 5, TypeError],
    ['null', null, TypeError],
    ['a name that is too long', 'x'.repeat(256), 'ENAMETOOLONG'],
    ['a path that is too long', 'x/'.repeat(5000), 'ENAMETOOLONG'],
  ])('%s is refused by both kinds', (_, given, expected) => {
    for (const each of [program, worker]) {
      const locate = () => each.locate(given as string);
      if (typeof expected === 'string') expect(locate).toThrow(expect.objectContaining({ code: expected }));
      else expect(locate).toThrow(expected);
    }
  });

  it.each(['', '\0', 'a\0b', 'notes/\0'])('%j is outside for both kinds', (given) => {
    for (const each of [program, worker]) expect(each.locate(given)).toBeUndefined();
  });

  // Each takes some tens of milliseconds; a quadratic algorithm would take minutes.
  it.each(['../', './', 'a/../', '\\', 'x:', '~'])(
    'takes less than 2 s of CPU, however often %s is repeated',
    (piece) => {
      const long = piece.repeat(1_000_000 / piece.length);
      for (const each of [program, worker]) {
        const before = process.cpuUsage().user;
        try {
          each.locate(long);
        } catch {}
        expect((process.cpuUsage().user - before) / 1000).toBeLessThan(2000);
      }
    },
  );
});

describe('roots in a configuration', () => {
  it.each([
    ['.', '/base', '/base'],
    ['./x', '/base', '/base/x'],
    ['../x', '/base/y', '/base/x'],
    ['/x/', '/base', '/x'],
    ['x', 'base', '/base/x'],
    ['\\x\\y', '/base', '/x/y'],
  ])('%s from %s is %s', (root, basePath, path) => {
    expect(sandboxRoots(parseSandboxConfig({ root: { root } }), basePath)[0]?.path).toBe(path);
  });

  it.each(['..', '../..', '/..', '~', '~/x', 'C:\\x', '//server', 'a/../../..'])(
    '%s is refused because it is not a directory of the filesystem',
    (root) => {
      expect(() => sandboxRoots(parseSandboxConfig({ root: { root } }), '/')).toThrow(/^sandbox\.root\.root must/);
      expect(() => sandboxRoots(parseSandboxConfig({ paths: { a: { root } } }), '/')).toThrow(
        /^sandbox\.paths\.a\.root must/,
      );
    },
  );

  it('are refused if two names have the same root', () => {
    const config = parseSandboxConfig({ paths: { a: { root: 'x' }, b: { root: './x/', mode: 'rw' } } });
    expect(() => sandboxRoots(config, '/')).toThrow('sandbox.paths.a and sandbox.paths.b have the same root');
  });
});
