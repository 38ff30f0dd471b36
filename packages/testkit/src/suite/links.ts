import { equal, ok } from './assert.js';
import { type Add, plant } from './context.js';

export function linkCases(add: Add): void {
  add('readlink returns the target byte for byte', async ({ fs, fails }) => {
    const targets = ['x', '../..//./x/', '/abs/./x', 'ünï 😀', './', 'a\\b', '__proto__', '\n'];
    for (const [i, target] of targets.entries()) {
      await fs.symlink(target, `/l${i}`);
      equal(await fs.readlink(`/l${i}`), target);
      equal((await fs.getEntry(`/l${i}`)).target, target);
    }
    await fs.writeFile('/f', '');
    await fails(() => fs.readlink('/f'), 'EINVAL');
    await fails(() => fs.readlink('/'), 'EINVAL');
    await fails(() => fs.readlink('/missing'), 'ENOENT');
  });

  add('symlink refuses existing names, an empty target and one of more than 4,095 bytes', async ({ fs, fails }) => {
    await plant(fs, { '/f': '', '/d': null });
    await fs.symlink('x', '/l');
    for (const path of ['/f', '/d', '/l', '/']) await fails(() => fs.symlink('y', path), 'EEXIST');
    await fails(() => fs.symlink('y', '/missing/l'), 'ENOENT');
    await fails(() => fs.symlink('y', '/f/l'), 'ENOTDIR');
    await fails(() => fs.symlink('', '/new'), 'ENOENT');
    await fails(() => fs.symlink('a/'.repeat(2_048), '/new'), 'ENAMETOOLONG');
    await fs.symlink('a/'.repeat(2_000), '/long');
  });

  add('.. in a target is physical: it starts in the directory of the link', async ({ fs }) => {
    await plant(fs, {
      '/a/b/x': 'right',
      '/x': 'wrong',
      '/c/l': { to: '../a/b' },
      '/a/b/up': { to: '../../a/./b/../b/x' },
    });
    equal(await fs.readText('/c/l/x'), 'right');
    equal(await fs.readText('/c/l/up'), 'right');
    await fs.symlink('../../../../a/b/x', '/c/many');
    equal(await fs.readText('/c/many'), 'right', '.. stops at the root');
    await plant(fs, { '/deep/er/d': null, '/ld': { to: 'deep/er/d' }, '/deep/er/y': 'physical', '/y': 'lexical' });
    await fs.symlink('ld/../y', '/via');
    equal(await fs.readText('/via'), 'physical', '.. after a link in a target is physical');
    equal(await fs.readText('/ld/../y'), 'lexical', '.. in a given path is lexical');
  });

  add('realpath resolves every link', async ({ fs, fails }) => {
    await plant(fs, {
      '/a/b/f': '',
      '/l1': { to: 'a' },
      '/a/l2': { to: '/l1/b' },
      '/l3': { to: 'a/l2/f' },
      '/x': { to: 'nowhere' },
    });
    equal(await fs.realpath('/l1/l2/f'), '/a/b/f');
    equal(await fs.realpath('/l3'), '/a/b/f');
    equal(await fs.realpath('/l1'), '/a');
    equal(await fs.realpath('/'), '/');
    await fails(() => fs.realpath('/x'), 'ENOENT');
    await fails(() => fs.realpath('/l3/x'), 'ENOTDIR');
  });

  add('40 links are followed, the 41st is ELOOP', async ({ fs, fails }) => {
    await fs.writeFile('/f', 'end');
    for (let i = 1; i <= 41; i++) await fs.symlink(i === 1 ? 'f' : `l${i - 1}`, `/l${i}`);
    equal(await fs.readText('/l40'), 'end');
    await fails(() => fs.readFile('/l41'), 'ELOOP');
    await fails(() => fs.writeFile('/l41', 'x'), 'ELOOP');
    equal(await fs.exists('/l41'), false);
    equal((await fs.lstat('/l41')).isSymbolicLink(), true);
  });

  add('a link that is followed repeatedly counts each time', async ({ fs, fails }) => {
    await plant(fs, { '/f': 'end', '/dot': { to: '.' } });
    equal(await fs.readText(`${'/dot'.repeat(40)}/f`), 'end');
    await fails(() => fs.readFile(`${'/dot'.repeat(41)}/f`), 'ELOOP');
  });

  add('loops are ELOOP for every operation that follows, and never hang', async ({ fs, fails }) => {
    await plant(fs, { '/self': { to: 'self' }, '/a': { to: 'b' }, '/b': { to: './a' }, '/d/up': { to: '../d/up/x' } });
    for (const path of ['/self', '/a', '/self/x', '/a/x/y', '/d/up', '/d/up/z']) {
      await fails(() => fs.readFile(path), 'ELOOP');
      await fails(() => fs.writeFile(path, ''), 'ELOOP');
      await fails(() => fs.stat(path), 'ELOOP');
      await fails(() => fs.readdir(path), 'ELOOP');
      await fails(() => fs.truncate(path, 0), 'ELOOP');
      await fails(() => fs.chmod(path, 0), 'ELOOP');
      await fails(() => fs.open(path), 'ELOOP');
      equal(await fs.exists(path), false);
    }
    await fs.unlink('/self');
    await fs.rename('/a', '/c');
    equal(await fs.readlink('/c'), 'b');
  });

  add('a write through a dangling link creates its target', async ({ fs, fails }) => {
    await plant(fs, {
      '/d': null,
      '/l': { to: 'd/new' },
      '/l2': { to: 'missing/new' },
      '/l3': { to: 'l4' },
      '/l4': { to: '/d/third' },
    });
    await fs.writeFile('/l', 'through');
    equal(await fs.readText('/d/new'), 'through');
    equal(await fs.readlink('/l'), 'd/new');
    await fails(() => fs.writeFile('/l2', 'x'), 'ENOENT');
    await fs.appendFile('/l3', 'twice');
    equal(await fs.readText('/d/third'), 'twice');
    await fs.unlink('/d/new');
    await fails(() => fs.writeFile('/l', 'x', { flag: 'wx' }), 'EEXIST');
  });

  add('chmod, utimes, truncate and write through a link change its target', async ({ fs, clock }) => {
    await plant(fs, { '/f': 'abc', '/l': { to: 'f' } });
    clock.advance(10);
    await fs.chmod('/l', 0o600);
    await fs.utimes('/l', 1, 2);
    await fs.truncate('/l', 1);
    equal((await fs.lstat('/f')).mode & 0o777, 0o600);
    equal((await fs.lstat('/l')).mode & 0o777, 0o777);
    equal(await fs.readText('/f'), 'a');
  });

  add('a hard link is a second name for the same file', async ({ fs }) => {
    await fs.mkdir('/d');
    await fs.writeFile('/a', 'shared');
    await fs.link('/a', '/d/b');
    const [a, b] = [await fs.stat('/a'), await fs.stat('/d/b')];
    equal([a.nlink, b.nlink, a.ino === b.ino], [2, 2, true]);
    equal((await fs.getEntry('/a')).links, 2);
    await fs.appendFile('/d/b', '!');
    equal(await fs.readText('/a'), 'shared!');
    await fs.chmod('/a', 0o600);
    equal((await fs.stat('/d/b')).mode & 0o777, 0o600);
    await fs.utimes('/d/b', 5, 6);
    equal((await fs.stat('/a')).mtimeMs, 6_000);
    await fs.unlink('/a');
    equal(await fs.readText('/d/b'), 'shared!');
    equal((await fs.stat('/d/b')).nlink, 1);
    await fs.writeFile('/a', 'another');
    equal(await fs.readText('/d/b'), 'shared!');
  });

  add('a file with several names counts once in size, and each name in nodes', async ({ fs }) => {
    await plant(fs, { '/a': '12345', '/d': null });
    await fs.link('/a', '/b');
    await fs.link('/b', '/d/c');
    equal(await fs.stats(), { totalSize: 5, fileCount: 3, directoryCount: 1, nodeCount: 4 });
    await fs.appendFile('/d/c', '67');
    equal((await fs.stats()).totalSize, 7);
    await fs.unlink('/a');
    equal(await fs.stats(), { totalSize: 7, fileCount: 2, directoryCount: 1, nodeCount: 3 });
    await fs.rm('/d', { recursive: true });
    equal(await fs.stats(), { totalSize: 7, fileCount: 1, directoryCount: 0, nodeCount: 1 });
    await fs.rm('/b');
    equal((await fs.stats()).totalSize, 0);
  });

  add('a symlink counts as a file with the bytes of its target', async ({ fs }) => {
    await fs.symlink('é/x', '/l');
    equal(await fs.stats(), { totalSize: 4, fileCount: 1, directoryCount: 0, nodeCount: 1 });
  });

  add('link to a symlink is a second name for the symlink', async ({ fs }) => {
    await plant(fs, { '/f': 'x', '/l': { to: 'f' } });
    await fs.link('/l', '/m');
    equal(await fs.readlink('/m'), 'f');
    equal((await fs.lstat('/m')).nlink, 2);
    await fs.unlink('/l');
    equal(await fs.readText('/m'), 'x');
  });

  add('link refuses directories and existing names', async ({ fs, fails }) => {
    await plant(fs, { '/f': '', '/g': '', '/d': null });
    await fails(() => fs.link('/d', '/x'), 'EPERM');
    await fails(() => fs.link('/', '/x'), 'EPERM');
    await fails(() => fs.link('/f', '/g'), 'EEXIST');
    await fails(() => fs.link('/f', '/f'), 'EEXIST');
    await fails(() => fs.link('/d', '/g'), 'EEXIST');
    await fails(() => fs.link('/missing', '/x'), 'ENOENT');
    await fails(() => fs.link('/f', '/missing/x'), 'ENOENT');
    await fails(() => fs.link('/f', '/g/x'), 'ENOTDIR');
  });

  add('rename of one hard link onto the other keeps both', async ({ fs, clock }) => {
    await fs.writeFile('/a', 'x');
    await fs.link('/a', '/b');
    clock.advance(5);
    await fs.rename('/a', '/b');
    equal(await fs.readdir('/'), ['a', 'b']);
    equal((await fs.stat('/a')).nlink, 2);
    ok((await fs.stat('/a')).ctimeMs < clock.now, 'nothing changed');
  });

  add('hard links survive moves of their directories', async ({ fs }) => {
    await plant(fs, { '/d/e/a': 'x', '/o': null });
    await fs.link('/d/e/a', '/o/b');
    await fs.rename('/d', '/o/moved');
    await fs.writeFile('/o/moved/e/a', 'changed');
    equal(await fs.readText('/o/b'), 'changed');
    await fs.rm('/o/moved', { recursive: true });
    equal((await fs.stat('/o/b')).nlink, 1);
    equal(await fs.stats(), { totalSize: 7, fileCount: 1, directoryCount: 1, nodeCount: 2 });
  });
}
