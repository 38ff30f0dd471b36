import { describe, expect, it, vi } from 'vitest';
import { FsError } from './errors.js';
import {
  baseName,
  checkName,
  checkText,
  compareNames,
  isWithin,
  joinPath,
  MAX_DEPTH,
  MAX_NAME_BYTES,
  MAX_PATH_BYTES,
  normalizePath,
  parentPath,
  pathSegments,
  utf8Length,
} from './paths.js';

/** Returns the parts of an error that people and programs read, or the result. */
function refusal(call: () => unknown): object {
  try {
    return { answer: call() };
  } catch (error) {
    if (error instanceof FsError) {
      const { code, syscall, limit, requested, allowed, hint } = error;
      return JSON.parse(JSON.stringify({ code, syscall, limit, requested, allowed, hint })) as object;
    }
    return { type: (error as Error).name, message: (error as Error).message };
  }
}

describe('normalizePath', () => {
  it.each([
    ['/', '/'],
    ['//', '/'],
    ['\\', '/'],
    ['/.', '/'],
    ['/..', '/'],
    ['.', '/'],
    ['..', '/'],
    ['a', '/a'],
    ['/a/', '/a'],
    ['/a//b', '/a/b'],
    ['/a\\b', '/a/b'],
    ['a\\', '/a'],
    ['/a/./b', '/a/b'],
    ['/a/.', '/a'],
    ['/./a', '/a'],
    ['/a/..', '/'],
    ['/a/b/../c', '/a/c'],
    ['/a/b/../../c', '/c'],
    ['/a/../../../b', '/b'],
    ['../a', '/a'],
    ['/...', '/...'],
    ['/..a', '/..a'],
    ['/a..', '/a..'],
    ['/.a', '/.a'],
    ['/a.', '/a.'],
    ['/a./.b', '/a./.b'],
    ['/ ', '/ '],
    ['/é/…/😀', '/é/…/😀'],
    ['/a\ud7ff', '/a\ud7ff'],
    ['/a\ue000', '/a\ue000'],
    ['/__proto__/constructor', '/__proto__/constructor'],
  ])('of %j is %j', (path, normal) => {
    expect(normalizePath(path)).toBe(normal);
    expect(normalizePath(normal)).toBe(normal);
  });

  it('refuses an invalid path, with the reason', () => {
    expect(refusal(() => normalizePath('', 'open'))).toEqual({ code: 'ENOENT', syscall: 'open' });
    for (const [value, kind] of [
      [undefined, 'undefined'],
      [null, 'null'],
      [5, 'number'],
      [{}, 'object'],
    ] as const) {
      const message = `The path must be a string, a local file: URL or bytes of valid UTF-8, not ${kind}`;
      expect(refusal(() => normalizePath(value as unknown as string))).toEqual({ type: 'TypeError', message });
    }
    for (const path of ['\0', '/a\0b', '/a/\0']) {
      const message = 'The path must be a string without null bytes';
      expect(refusal(() => normalizePath(path))).toEqual({ type: 'TypeError', message });
    }
    for (const path of ['/\ud800', '/\udfff', '/a\ud800b', '\udc00', `/${'x'.repeat(2000)}\ud83d`]) {
      const hint = 'The path has a lone surrogate, which UTF-8 cannot express';
      expect(refusal(() => normalizePath(path, 'stat'))).toEqual({ code: 'EINVAL', syscall: 'stat', hint });
    }
  });

  it.each([
    ['ASCII', 'x', 1],
    ['two bytes', 'é', 2],
    ['three bytes', '…', 3],
    ['four bytes', '😀', 4],
  ])('takes names of 255 bytes and no more, in characters of %s', (_, character, bytes) => {
    const fitting = character.repeat(Math.floor(MAX_NAME_BYTES / bytes));
    expect(normalizePath(`/a/${fitting}`)).toBe(`/a/${fitting}`);
    const long = `${fitting}${'x'.repeat(MAX_NAME_BYTES % bytes)}x`;
    const expected = {
      code: 'ENAMETOOLONG',
      syscall: 'open',
      limit: 'name',
      requested: 256,
      allowed: 255,
      hint: 'A name has at most 255 bytes, this one has 256',
    };
    expect(refusal(() => normalizePath(`/a/${long}`, 'open'))).toEqual(expected);
    expect(refusal(() => normalizePath(`/${long}/b/../c`, 'open'))).toEqual(expected);
    expect(normalizePath(`/${long}/../c`)).toBe('/c');
    expect(normalizePath(`/a/${long}`, 'open', false)).toBe(`/a/${long}`);
  });

  it.each([
    ['x', 1],
    ['…', 3],
  ])('accepts 4,096 bytes of %s and no more', (character, bytes) => {
    const name = `/${character.repeat(Math.floor(MAX_NAME_BYTES / bytes))}`;
    const whole = name.repeat(MAX_PATH_BYTES / 256);
    expect(utf8Length(whole)).toBe(MAX_PATH_BYTES);
    expect(normalizePath(whole)).toBe(whole);
    expect(normalizePath(`${whole}/./..${name}`)).toBe(whole);
    const expected = { code: 'ENAMETOOLONG', syscall: 'open', limit: 'path', requested: 4098, allowed: 4096 };
    expect(refusal(() => normalizePath(`${whole}/x`, 'open'))).toEqual(expected);
    expect(refusal(() => normalizePath(`${whole}/x`, 'open', false))).toEqual(expected);
  });

  it('accepts a thousand names and no more, whatever their length', () => {
    const deep = '/a'.repeat(MAX_DEPTH);
    expect(normalizePath(deep)).toBe(deep);
    expect(normalizePath(`${deep}/b/..`)).toBe(deep);
    const expected = { code: 'ENAMETOOLONG', limit: 'depth', requested: 1001, allowed: 1000 };
    expect(refusal(() => normalizePath(`${deep}/b`))).toEqual(expected);
    expect(refusal(() => normalizePath(`${deep}/b\\`, 'open'))).toEqual({ ...expected, syscall: 'open' });
  });
});

describe('the parts of a normalized path', () => {
  it.each([
    ['/', [], '/', '/'],
    ['/a', ['a'], '/', 'a'],
    ['/a/b', ['a', 'b'], '/a', 'b'],
    ['/a/b/c', ['a', 'b', 'c'], '/a/b', 'c'],
  ])('of %s', (path, segments, parent, base) => {
    expect(pathSegments(path)).toEqual(segments);
    expect(parentPath(path)).toBe(parent);
    expect(baseName(path)).toBe(base);
    if (path !== '/') expect(joinPath(parent, base)).toBe(path);
  });
});

describe('isWithin', () => {
  it.each([
    ['/', '/', true],
    ['/a', '/', true],
    ['/a', '/a', true],
    ['/a/b', '/a', true],
    ['/a/b/c', '/a', true],
    ['/ab', '/a', false],
    ['/a', '/a/b', false],
    ['/b/a', '/a', false],
    ['/', '/a', false],
    ['/b/', '/a', false],
  ])('%s in %s: %s', (path, directory, expected) => expect(isWithin(path, directory)).toBe(expected));
});

describe('checkName', () => {
  it('returns a name unchanged', () => {
    for (const name of ['a', '...', '.a', ' ', '__proto__', '~', 'C:', '😀', 'x'.repeat(255)])
      expect(checkName(name)).toBe(name);
  });

  it('refuses a name that would lead to another path', () => {
    const hint = 'A name must not be empty, ., .. or contain / or \\';
    for (const name of ['', '.', '..', '/', 'a/b', '\\', 'a\\b', '..\\x']) {
      expect(refusal(() => checkName(name, 'checkout'))).toEqual({ code: 'EINVAL', syscall: 'checkout', hint });
    }
  });

  it('refuses values that are not strings, and long names', () => {
    expect(refusal(() => checkName(null as unknown as string))).toEqual({
      type: 'TypeError',
      message: 'The name must be a string, not null',
    });
    expect(refusal(() => checkName('a\0'))).toMatchObject({ message: 'The name must be a string without null bytes' });
    expect(refusal(() => checkName('\ud800', 'x'))).toMatchObject({ code: 'EINVAL', syscall: 'x' });
    expect(refusal(() => checkName('é'.repeat(128), 'x'))).toEqual({
      code: 'ENAMETOOLONG',
      syscall: 'x',
      limit: 'name',
      requested: 256,
      allowed: 255,
      hint: 'A name has at most 255 bytes, this one has 256',
    });
  });
});

describe('names that begin or end with a dot', () => {
  it.each(['a.', '.a', 'ab.', '.ab', '..a', 'a..', '...', 'ab', '.a.'])('%j is a name like any other', (name) => {
    expect(normalizePath(`/${name}/x`)).toBe(`/${name}/x`);
    expect(normalizePath(`//${name}//x`)).toBe(`/${name}/x`);
  });
});

describe('the fast path for normalized paths', () => {
  // The slow path checks the text first.
  const isTakenApart = (path: string): boolean => {
    const check = vi.spyOn(String.prototype, 'isWellFormed');
    try {
      normalizePath(path);
      return check.mock.calls.length > 0;
    } finally {
      check.mockRestore();
    }
  };

  it.each([
    '/',
    '/a',
    '/ab/cd',
    '/.a/a./...',
    '/.ab/ab./..a/a..',
    `/${'x'.repeat(85)}`,
    '/\ud7ff/\ue000/\uffff',
    '/é/…',
    '/a'.repeat(682),
  ])('is looked at once, and nothing is made of it (%j)', (path) => {
    expect(isTakenApart(path)).toBe(false);
  });

  it.each(['a', '//', '/a/', '/a//b', '/.', '/a/..', '/a/./b', '/a\\b', '/😀', `/${'x'.repeat(86)}`, '/a'.repeat(683)])(
    'takes the slow path for any other one (%j)',
    (path) => {
      expect(isTakenApart(path)).toBe(true);
    },
  );
});

describe('checkText', () => {
  it('names the argument', () => {
    expect(refusal(() => checkText(7 as unknown as string, 'target'))).toMatchObject({
      message: 'The target must be a string, not number',
    });
    expect(refusal(() => checkText('\udc00', 'target'))).toMatchObject({
      hint: 'The target has a lone surrogate, which UTF-8 cannot express',
    });
    expect(checkText('', 'target')).toBeUndefined();
  });
});

describe('compareNames', () => {
  const characters = [
    '\u0001',
    '!',
    'A',
    'a',
    '~',
    '\u007f',
    '\u0080',
    'é',
    '\u07ff',
    '\u0800',
    '…',
    '\ud7ff',
    '\ue000',
    '\uffff',
    '😀',
    '𐀀',
    '\u{10ffff}',
  ];
  const names = [...characters, ...characters.flatMap((a) => characters.map((b) => a + b)), 'ab', 'abc', 'b'];

  it('is the order of UTF-8 bytes', () => {
    const sign = (n: number): number => Math.sign(n);
    for (const a of names) {
      for (const b of names) {
        if (sign(compareNames(a, b)) !== sign(Buffer.compare(Buffer.from(a), Buffer.from(b))))
          expect([a, b]).toBe('in another order');
      }
    }
    expect(compareNames('a', 'a')).toBe(0);
  });
});

describe('utf8Length', () => {
  it.each(['', 'a', '\u007f', '\u0080', '\u07ff', '\u0800', '\ud7ff', '\ue000', '\uffff', '😀', 'a😀b', '😀😀', 'é…x'])(
    'of %j',
    (text) => {
      expect(utf8Length(text)).toBe(Buffer.byteLength(text));
    },
  );
});
