import { describe, expect, it } from 'vitest';
import { openFileSystem } from '../../create-file-system.js';
import { ExecutorSyncStorage } from '../../executor-storage.js';
import { rootMeta } from '../defaults.js';
import { MemoryExecutor } from '../memory/memory-executor.js';

const createFileSystem = (options: Parameters<typeof openFileSystem>[1] = {}) =>
  openFileSystem(new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0), options);

describe('mkdtemp', () => {
  it.each([[undefined], [null], [5], [{}]])('refuses a prefix that is not a string: %s', (prefix) => {
    const fs = createFileSystem();
    expect(() => fs.mkdtempSync(prefix as never)).toThrow(TypeError);
    expect(fs.readdirSync('/')).toEqual([]);
  });

  it('gives up if the random numbers repeat', () => {
    const fs = createFileSystem({ random: () => 0 });
    expect(fs.mkdtempSync('/x-')).toBe('/x-aaaaaa');
    expect(() => fs.mkdtempSync('/x-')).toThrow(expect.objectContaining({ code: 'EEXIST', path: '/x-XXXXXX' }));
    expect(fs.readdirSync('/')).toEqual(['x-aaaaaa']);
  });

  it.each([[62], [-1], [0.5], [Number.NaN]])('refuses a random number out of its range: %s', (number) => {
    const fs = createFileSystem({ random: () => number });
    expect(() => fs.mkdtempSync('/x-')).toThrow(RangeError);
    expect(fs.readdirSync('/')).toEqual([]);
  });
});

describe('mkdir with recursive and several errors on the path', () => {
  const LONG = 'x'.repeat(256);
  // Like Node's mkdirSync on Linux: it creates directories from the root on, so the first entry in the way decides the
  // error.
  it.each([
    ['a link that leads nowhere', '/dangling/LONG', 'ENOENT'],
    ['a link that leads nowhere', '/dangling/x/a/LONG', 'ENOENT'],
    ['a link that leads nowhere', '/directory/dangling/LONG/a', 'ENOENT'],
    ['a link to itself', '/circle/x/LONG', 'ELOOP'],
    ['a file', '/file/LONG', 'ENOTDIR'],
    ['a link to a file', '/link/x/a/LONG', 'ENOTDIR'],
    ['nothing but the length', '/directory/LONG/dangling', 'ENAMETOOLONG'],
    ['nothing but the length', '/missing/LONG/a', 'ENAMETOOLONG'],
  ])('%s in the way of a name that is too long: %s is %s', (_, path, code) => {
    const fs = createFileSystem({ files: { '/file': '' } });
    fs.mkdirSync('/directory');
    fs.symlinkSync('b/b/b', '/dangling');
    fs.symlinkSync('../b/b', '/directory/dangling');
    fs.symlinkSync('circle', '/circle');
    fs.symlinkSync('file', '/link');
    const before = fs.statsSync();
    expect(() => fs.mkdirSync(path.replace('LONG', LONG), { recursive: true })).toThrow(
      expect.objectContaining({ code }),
    );
    expect(fs.statsSync()).toEqual(before);
  });
});
