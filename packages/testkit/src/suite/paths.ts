import { HOSTILE_NAMES, LONG_NAMES, TOO_LONG_NAMES } from '../names.js';
import { equal } from './assert.js';
import { type Add, collect, plant } from './context.js';

/** Cases of the path rules, and of names that break naive code. */
export function pathCases(add: Add): void {
  const examples: readonly [string, string, string][] = [
    ['backslashes become slashes', '\\src\\file.txt', '/src/file.txt'],
    ['a path always starts at the root', 'src/file.txt', '/src/file.txt'],
    ['a trailing slash is ignored', '/src/', '/src'],
    ['. segments are removed', '/src/./file.txt', '/src/file.txt'],
    ['.. segments are resolved', '/src/../file.txt', '/file.txt'],
    ['.. stops at the root', '/../../src/file.txt', '/src/file.txt'],
    ['empty segments are removed', '//src///file.txt//', '/src/file.txt'],
    ['.. is lexical in a given path', '/nowhere/../file.txt', '/file.txt'],
  ];
  for (const [rule, given, normal] of examples) {
    add(`${rule}: ${given} is ${normal}`, async ({ fs }) => {
      await plant(fs, { '/src/file.txt': 'in src', '/file.txt': 'at the root' });
      const entry = await fs.getEntry(given);
      equal(entry.path, normal);
      equal(entry.name, normal.slice(normal.lastIndexOf('/') + 1));
      equal(await fs.realpath(given), normal);
      equal(await fs.exists(given), true);
    });
  }

  add('every way to write the root means the root', async ({ fs }) => {
    for (const root of ['/', '.', './', '..', '\\', '//', '/..', 'a/..']) {
      equal((await fs.getEntry(root)).path, '/', root);
      equal((await fs.getEntry(root)).name, '/', root);
    }
  });

  add('the empty path is ENOENT', async ({ fs, fails }) => {
    await fails(() => fs.readFile(''), 'ENOENT');
    await fails(() => fs.writeFile('', 'x'), 'ENOENT');
    await fails(() => fs.mkdir('', { recursive: true }), 'ENOENT');
    await fails(() => fs.readdir(''), 'ENOENT');
    equal(await fs.exists(''), false);
  });

  add('NUL and lone surrogates are refused before any other rule', async ({ fs, fails }) => {
    await plant(fs, { '/a': 'x' });
    for (const path of ['/a\0', '\0', '/missing/\0/../../a', 'a\0b']) {
      await fails(() => fs.writeFile(path, 'y'), 'TypeError');
      await fails(() => fs.readFile(path), 'TypeError');
      await fails(() => fs.rename('/a', path), 'TypeError');
    }
    for (const path of ['/\ud800', '/a\udc00b', '\ud800/../a', '/\udfff\ud800']) {
      await fails(() => fs.writeFile(path, 'y'), 'EINVAL');
      await fails(() => fs.readFile(path), 'EINVAL');
      await fails(() => fs.mkdir(path, { recursive: true }), 'EINVAL');
      await fails(() => fs.symlink(path, '/l'), 'EINVAL');
      equal(await fs.exists(path), false);
    }
  });

  add('names of 255 bytes are valid, of 256 ENAMETOOLONG', async ({ fs, fails }) => {
    for (const name of LONG_NAMES) {
      await fs.writeFile(`/${name}`, name);
      equal(await fs.readText(`/${name}`), name);
      await fs.mkdir(`/d/${name}/x`, { recursive: true });
    }
    for (const name of TOO_LONG_NAMES) {
      await fails(() => fs.writeFile(`/${name}`, ''), 'ENAMETOOLONG');
      await fails(() => fs.mkdir(`/${name}`), 'ENAMETOOLONG');
      await fails(() => fs.mkdir(`/new/${name}/x`, { recursive: true }), 'ENAMETOOLONG');
      await fails(() => fs.symlink('x', `/${name}`), 'ENAMETOOLONG');
      await fails(() => fs.stat(`/${name}`), 'ENAMETOOLONG');
      equal(await fs.exists(`/${name}`), false);
    }
  });

  add('paths of more than 4,096 bytes and more than 1,000 names are ENAMETOOLONG', async ({ fs, fails }) => {
    await fails(() => fs.writeFile(`/${'ab/'.repeat(1_500)}x`, ''), 'ENAMETOOLONG');
    await fails(() => fs.mkdir(`/${'a/'.repeat(1_001)}`, { recursive: true }), 'ENAMETOOLONG');
    await fails(() => fs.stat(`/${'é'.repeat(100)}`.repeat(21)), 'ENAMETOOLONG');
    const deep = '/a'.repeat(1_000);
    equal(await fs.mkdir(deep, { recursive: true }), '/a');
    equal(await fs.isDirectory(deep), true);
    equal((await fs.stats()).directoryCount, 1_000);
    await fs.rm('/a', { recursive: true });
    equal((await fs.stats()).nodeCount, 0);
  });

  add('a long path that normalizes to a short one is valid', async ({ fs }) => {
    await fs.writeFile(`/${'./'.repeat(5_000)}a`, 'short');
    equal(await fs.readText('/a'), 'short');
  });

  add('hostile names are ordinary names', async ({ fs }) => {
    for (const name of HOSTILE_NAMES) {
      await fs.writeFile(`/${name}`, `file ${name}`);
    }
    for (const name of HOSTILE_NAMES) {
      equal(await fs.readText(`/${name}`), `file ${name}`);
      equal((await fs.getEntry(`/${name}`)).name, name);
    }
    equal((await fs.readdir('/')).length, HOSTILE_NAMES.length);
    for (const name of HOSTILE_NAMES) {
      await fs.unlink(`/${name}`);
      await fs.mkdir(`/${name}`);
      await fs.writeFile(`/${name}/${name}`, name);
    }
    for (const name of HOSTILE_NAMES) equal(await fs.readdir(`/${name}`), [name]);
    await fs.rename('/__proto__', '/constructor/__proto__');
    equal(await fs.readText('/constructor/__proto__/__proto__'), '__proto__');
    equal(({} as Record<string, unknown>).polluted, undefined);
    equal(Object.keys(Object.prototype), []);
  });

  add('names of inherited properties of objects are absent unless created', async ({ fs, fails }) => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      equal(await fs.exists(`/${name}`), false);
      await fails(() => fs.readFile(`/${name}`), 'ENOENT');
      await fails(() => fs.readdir(`/${name}/x`), 'ENOENT');
    }
  });

  add('names that differ in form or case are different names', async ({ fs }) => {
    await plant(fs, { '/\u00e9': 'composed', '/e\u0301': 'decomposed', '/A': 'upper', '/a': 'lower' });
    equal(await fs.readText('/\u00e9'), 'composed');
    equal(await fs.readText('/e\u0301'), 'decomposed');
    equal(await fs.readText('/A'), 'upper');
    equal(await fs.readText('/a'), 'lower');
  });

  add('listings are sorted by UTF-8 bytes, astral characters after the private area', async ({ fs }) => {
    const sorted = ['-', '.x', '0', '10', '2', 'A', '_', 'a', 'a b', 'a-', 'aa', 'é', '\ue000', '\uffee', '😀', '𝒳'];
    sorted.sort((a, b) => compareCodePoints(a, b));
    for (const name of [...sorted].reverse()) await fs.writeFile(`/${name}`, '');
    equal(await fs.readdir('/'), sorted);
    equal(
      (await collect(fs.walk('/'))).map((entry) => entry.name),
      sorted,
    );
  });

  add('/ab is not under /a', async ({ fs }) => {
    await plant(fs, { '/a/x': '1', '/ab/x': '2', '/a.b': '3' });
    equal(
      (await collect(fs.walk('/a'))).map((entry) => entry.path),
      ['/a/x'],
    );
    await fs.rm('/a', { recursive: true });
    equal(await fs.readText('/ab/x'), '2');
    equal(await fs.readText('/a.b'), '3');
    await fs.rename('/ab', '/abc');
    equal(await fs.readText('/abc/x'), '2');
  });
}

function compareCodePoints(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const difference = (x[i]?.codePointAt(0) as number) - (y[i]?.codePointAt(0) as number);
    if (difference !== 0) return difference;
  }
  return x.length - y.length;
}
