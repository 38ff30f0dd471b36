import { FsError, type SyncFileSystem } from '@scratchfs/core';
import { runCallsSync } from '@scratchfs/core/internal';
import { describe, expect, it } from 'vitest';
import { find, findName } from './find.js';
import { memory } from './testing/memory.js';

it('a path whose links keep changing ends after 40 of them', () => {
  let looked = 0;
  const changing = {
    realpathSync: (path: string) => {
      throw new FsError('ENOENT', { path });
    },
    lstatSync: () => ({ kind: 'symlink' }),
    readlinkSync: () => `../link${++looked}/..//./x`,
  };
  expect(() => runCallsSync(find(changing as unknown as SyncFileSystem, '/a/b'))).toThrow(
    expect.objectContaining({ code: 'ELOOP', syscall: 'realpath', path: '/a/b' }),
  );
  expect(looked).toBe(40);
});

/** Returns a filesystem without realpath support, and the paths that are requested from it. */
function asked(look: (path: string) => string) {
  const looks: string[] = [];
  const fileSystem = {
    realpathSync: (path: string) => {
      throw new FsError('ENOENT', { path });
    },
    lstatSync: (path: string) => {
      looks.push(path);
      return { kind: look(path) };
    },
    readlinkSync: () => '.',
  };
  return { looks, fileSystem: fileSystem as unknown as SyncFileSystem };
}

describe('a missing path', () => {
  const fileSystem = memory({
    '/a/b/file': 'x',
    '/a/rel': { symlink: 'x//./y' },
    '/a/abs': { symlink: '/c//./d' },
    '/a/back': { symlink: 'b\\.\\new' },
    '/a/up': { symlink: '../../e' },
    '/a/gone': { symlink: 'none/..' },
    '/a/way': { symlink: '../a/b' },
  });

  it.each([
    ['/a/b/new', '/a/b/new'],
    ['/a/none/x/y', '/a/none/x/y'],
    ['/a/rel', '/a/x/y'],
    ['/a/abs', '/c/d'],
    ['/a/back', '/a/b/new'],
    ['/a/up', '/e'],
    ['/a/gone', '/a'],
    ['/a/way/new/z', '/a/b/new/z'],
    ['/a/b/file/x', '/a/b/file/x'],
  ])('of %s is found where a write would make it: %s', (path, expected) => {
    expect(runCallsSync(find(fileSystem, path))).toEqual({ path: expected, kind: undefined });
  });

  it('is searched only up to the first missing name', () => {
    const { looks, fileSystem } = asked((path) => {
      if (path === '/a') return 'directory';
      throw new FsError('ENOENT', { path });
    });
    expect(runCallsSync(find(fileSystem, '/a/b/c/d'))).toEqual({ path: '/a/b/c/d', kind: undefined });
    expect(looks).toEqual(['/a', '/a/b']);
  });

  it('is a directory if the last link leads to its own directory', () => {
    const { fileSystem } = asked((path) => (path === '/a' ? 'directory' : 'symlink'));
    expect(runCallsSync(find(fileSystem, '/a/l'))).toEqual({ path: '/a', kind: 'directory' });
  });

  it.each(['EACCES', 'EPERM'] as const)('is an error, not missing, if the lookup fails with %s', (code) => {
    const { fileSystem } = asked((path) => {
      throw new FsError(code, { path });
    });
    expect(() => runCallsSync(find(fileSystem, '/a/b'))).toThrow(expect.objectContaining({ code }));
  });
});

it('a name is found by following the links in front of it, but not the name itself', () => {
  const fileSystem = memory({ '/a/b/file': 'x', '/a/way': { symlink: 'b' }, '/a/b/link': { symlink: 'file' } });
  const named = (path: string) => runCallsSync(findName(fileSystem, path));
  expect(named('/a/way/link')).toEqual({ path: '/a/b/link', kind: 'symlink' });
  expect(named('/a/way')).toEqual({ path: '/a/way', kind: 'symlink' });
  expect(named('/a/way/none')).toEqual({ path: '/a/b/none', kind: undefined });
  expect(named('/a/b/file/x')).toEqual({ path: '/a/b/file/x', kind: undefined });
  expect(named('/')).toEqual({ path: '/', kind: 'directory' });
});
