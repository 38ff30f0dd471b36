import type { FileSystem } from '@scratchfs/core';
import { equal } from './assert.js';
import { type Add, plant } from './context.js';

type Kind = 'file' | 'empty' | 'full' | 'link' | 'dangling' | 'missing';
const KINDS: readonly Kind[] = ['file', 'empty', 'full', 'link', 'dangling', 'missing'];

/** The error code of rename(2) for each pair of kinds; undefined for success. */
const EXPECTED: Record<Kind, Record<Kind, string | undefined>> = {
  file: { file: undefined, empty: 'EISDIR', full: 'EISDIR', link: undefined, dangling: undefined, missing: undefined },
  empty: {
    file: 'ENOTDIR',
    empty: undefined,
    full: 'ENOTEMPTY',
    link: 'ENOTDIR',
    dangling: 'ENOTDIR',
    missing: undefined,
  },
  full: {
    file: 'ENOTDIR',
    empty: undefined,
    full: 'ENOTEMPTY',
    link: 'ENOTDIR',
    dangling: 'ENOTDIR',
    missing: undefined,
  },
  link: { file: undefined, empty: 'EISDIR', full: 'EISDIR', link: undefined, dangling: undefined, missing: undefined },
  dangling: {
    file: undefined,
    empty: 'EISDIR',
    full: 'EISDIR',
    link: undefined,
    dangling: undefined,
    missing: undefined,
  },
  missing: { file: 'ENOENT', empty: 'ENOENT', full: 'ENOENT', link: 'ENOENT', dangling: 'ENOENT', missing: 'ENOENT' },
};

async function put(fs: FileSystem, kind: Kind, path: string): Promise<void> {
  if (kind === 'file') await fs.writeFile(path, `file ${path}`);
  if (kind === 'empty' || kind === 'full') await fs.mkdir(path);
  if (kind === 'full') await fs.writeFile(`${path}/inside`, `in ${path}`);
  if (kind === 'link') await fs.symlink('/to/there', path);
  if (kind === 'dangling') await fs.symlink('nowhere', path);
}

/** Describes the entry at a path, to recognise it after a move. */
async function look(fs: FileSystem, path: string): Promise<unknown> {
  const entry = await fs.getEntry(path);
  return {
    kind: entry.kind,
    target: entry.target,
    content: entry.content,
    names: entry.isDirectory ? await fs.readdir(path) : [],
  };
}

export function renameCases(add: Add): void {
  for (const from of KINDS) {
    for (const to of KINDS) {
      const code = EXPECTED[from][to];
      add(`rename ${from} onto ${to}: ${code ?? 'succeeds'}`, async ({ fs, fails }) => {
        await plant(fs, { '/to/there': 'target', '/p': null, '/q': null });
        for (const [source, target] of [
          ['/p/from', '/q/to'],
          ['/p/x', '/p/y'],
        ] as const) {
          await put(fs, from, source);
          await put(fs, to, target);
          if (code !== undefined) {
            await fails(() => fs.rename(source, target), code);
            continue;
          }
          const moved = await look(fs, source);
          const { ino } = await fs.lstat(source);
          await fs.rename(source, target);
          equal(await look(fs, target), moved);
          equal((await fs.lstat(target)).ino, ino);
          equal(await fs.exists(source), false);
        }
        equal(await fs.readText('/to/there'), 'target');
      });
    }
  }

  add('rename of a directory into itself is EINVAL, onto an ancestor ENOTEMPTY', async ({ fs, fails }) => {
    await plant(fs, { '/a/b/c': null, '/ab': null, '/l': { to: 'a/b' } });
    await fails(() => fs.rename('/a', '/a/x'), 'EINVAL');
    await fails(() => fs.rename('/a', '/a/b/c/x'), 'EINVAL');
    await fails(() => fs.rename('/a', '/l/x'), 'EINVAL');
    await fails(() => fs.rename('/a/b/c', '/a'), 'ENOTEMPTY');
    await fails(() => fs.rename('/a/b', '/a'), 'ENOTEMPTY');
    await fs.rename('/a', '/ab/a');
    equal(await fs.isDirectory('/ab/a/b/c'), true);
  });

  add('rename of anything onto itself changes nothing', async ({ fs, clock }) => {
    await plant(fs, { '/f': 'x', '/d/x': '', '/l': { to: 'f' } });
    const { ctimeMs } = await fs.stat('/f');
    clock.advance(5);
    for (const path of ['/f', '/d', '/l']) await fs.rename(path, path);
    equal(await fs.readdir('/'), ['d', 'f', 'l']);
    equal(await fs.readdir('/d'), ['x']);
    equal((await fs.stat('/f')).ctimeMs, ctimeMs);
  });

  add('the root cannot be renamed or replaced', async ({ fs, fails }) => {
    await plant(fs, { '/d': null, '/f': '' });
    await fails(() => fs.rename('/', '/x'), 'EBUSY');
    await fails(() => fs.rename('/d', '/'), 'EBUSY');
    await fails(() => fs.rename('/f', '/'), 'EBUSY');
  });

  add('rename fails in the parents like every other operation', async ({ fs, fails }) => {
    await plant(fs, { '/f': '', '/g': '', '/loop': { to: 'loop' } });
    await fails(() => fs.rename('/f', '/missing/x'), 'ENOENT');
    await fails(() => fs.rename('/missing/f', '/x'), 'ENOENT');
    await fails(() => fs.rename('/f', '/g/x'), 'ENOTDIR');
    await fails(() => fs.rename('/g/x', '/x'), 'ENOTDIR');
    await fails(() => fs.rename('/f', '/loop/x'), 'ELOOP');
    await fails(() => fs.rename('/f', `/${'n'.repeat(256)}`), 'ENAMETOOLONG');
  });

  add('rename follows links in the parents', async ({ fs }) => {
    await plant(fs, { '/a/f': 'x', '/b': null, '/la': { to: 'a' }, '/lb': { to: 'b' } });
    await fs.rename('/la/f', '/lb/g');
    equal(await fs.readText('/b/g'), 'x');
    equal(await fs.readdir('/a'), []);
  });

  add('rename of a directory moves everything under it', async ({ fs }) => {
    await plant(fs, { '/a/b/c/f': 'deep', '/a/l': { to: 'b/c/f' }, '/a/e': null, '/t': null });
    await fs.chmod('/a/b', 0o700);
    const before = await fs.stats();
    await fs.rename('/a', '/t/z');
    equal(await fs.readText('/t/z/b/c/f'), 'deep');
    equal(await fs.readText('/t/z/l'), 'deep');
    equal((await fs.stat('/t/z/b')).mode & 0o777, 0o700);
    equal(await fs.stats(), before);
    equal(await fs.exists('/a'), false);
  });

  add('a directory can be renamed back to an old path', async ({ fs }) => {
    await plant(fs, { '/a/x': '1' });
    await fs.rename('/a', '/b');
    await fs.mkdir('/a');
    await fs.writeFile('/a/y', '2');
    await fs.rename('/a', '/c');
    await fs.rename('/b', '/a');
    equal(await fs.readdir('/a'), ['x']);
    equal(await fs.readdir('/c'), ['y']);
  });
}
