import type { Dirent } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createNodeFs, type NodeFs } from '../node/create-node-fs.js';

const FILES = 'a/1.js a/b/2.js a/b/c/3.ts .dot .h/x/4.js node_modules/m/5.js top.js'.split(' ');

function planted(): NodeFs {
  const fs = createNodeFs();
  for (const file of FILES) {
    fs.mkdirSync(`/g/${file}/..`.replace(/\/[^/]+\/\.\.$/, ''), { recursive: true });
    fs.writeFileSync(`/g/${file}`, '');
  }
  fs.symlinkSync('a', '/g/la');
  return fs;
}

/** Results of `fs.globSync` of Node 24.21 in the same tree, sorted. */
const NODE_RESULTS: readonly (readonly [pattern: string, found: readonly string[]])[] = [
  ['*', ['a', 'la', 'node_modules', 'top.js']],
  [
    '**',
    [
      '.',
      'a',
      'a/1.js',
      'a/b',
      'a/b/2.js',
      'a/b/c',
      'a/b/c/3.ts',
      'la',
      'node_modules',
      'node_modules/m',
      'node_modules/m/5.js',
      'top.js',
    ],
  ],
  ['**/*.js', ['a/1.js', 'a/b/2.js', 'node_modules/m/5.js', 'top.js']],
  ['a/**', ['a', 'a/1.js', 'a/b', 'a/b/2.js', 'a/b/c', 'a/b/c/3.ts']],
  ['a/**/', ['a', 'a/b', 'a/b/c']],
  ['a/*', ['a/1.js', 'a/b']],
  ['{a,top}*', ['a', 'top.js']],
  ['*/', ['a', 'node_modules']],
  ['.*', ['.dot', '.h']],
  ['**/.*', ['.dot', '.h']],
  ['la/**', ['la', 'la/1.js', 'la/b', 'la/b/2.js', 'la/b/c', 'la/b/c/3.ts']],
  ['la/*', ['la/1.js', 'la/b']],
  ['**/b/**', ['a/b', 'a/b/2.js', 'a/b/c', 'a/b/c/3.ts']],
  ['./a/*', ['a/1.js', 'a/b']],
  ['/g/a/*', ['/g/a/1.js', '/g/a/b']],
  ['a', ['a']],
  ['zz', []],
  ['[ab]', ['a']],
  ['a/b/../*', ['a/1.js', 'a/b']],
  ['?', ['a']],
  ['', []],
];

describe('glob finds', () => {
  it.each(NODE_RESULTS)('the same paths as Node for %j', (pattern, found) => {
    expect(planted().globSync(pattern, { cwd: '/g' })).toEqual(found);
  });

  it('from the root, and with several patterns once each', () => {
    const fs = planted();
    expect(fs.globSync('g/a/*.js')).toEqual(['g/a/1.js']);
    expect(fs.globSync(['a/*', '**/1.js', '/g/top.js'], { cwd: '/g' })).toEqual(['a/1.js', 'a/b', '/g/top.js']);
    expect(fs.globSync('../g/top.js', { cwd: '/g/a' })).toEqual([]);
    expect(fs.globSync('../top.js', { cwd: '/g/a' })).toEqual(['../top.js']);
  });

  it('no excluded path, and none under it', () => {
    const fs = planted();
    const left = ['a/1.js', 'a/b/2.js', 'top.js'];
    expect(fs.globSync('**/*.js', { cwd: '/g', exclude: ['node_modules/**'] })).toEqual(left);
    expect(fs.globSync('**/*.js', { cwd: '/g', exclude: (name: string) => name === 'node_modules' })).toEqual(left);
    const isDirectory = (entry: Dirent) => entry.isDirectory();
    expect(fs.globSync('**/*.js', { cwd: '/g', exclude: isDirectory, withFileTypes: true })).toMatchObject([
      { name: 'top.js', parentPath: '/g' },
    ]);
  });

  it('in every form', async () => {
    const fs = planted();
    expect(await new Promise((resolve) => fs.glob('g/*', (...heard) => resolve(heard)))).toEqual([
      null,
      ['g/a', 'g/la', 'g/node_modules', 'g/top.js'],
    ]);
    const found: string[] = [];
    for await (const path of fs.promises.glob('g/a/**', {})) found.push(path);
    expect(found).toEqual(['g/a', 'g/a/1.js', 'g/a/b', 'g/a/b/2.js', 'g/a/b/c', 'g/a/b/c/3.ts']);
  });

  it('no path for an invalid pattern: it throws, in the promise form when it is iterated', async () => {
    const fs = planted();
    expect(() => fs.globSync(5 as never)).toThrow(
      'The "patterns" argument must be of type string. Received type number (5)',
    );
    expect(() => fs.globSync([5] as never)).toThrow('The "patterns[0]" argument must be of type string.');
    expect(() => fs.globSync('a', { exclude: 5 as never })).toThrow(
      'The "options.exclude" property must be of type function or string[]. Received type number (5)',
    );
    const iterator = fs.promises.glob(5 as never)[Symbol.asyncIterator]();
    await expect(iterator.next()).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  });
});
