import { equal, ok } from './assert.js';
import { type Add, collect, plant, utf8 } from './context.js';

/** Cases of the fields of an entry, and of `stat`. */
export function entryCases(add: Add): void {
  add('a file entry has every field', async ({ fs, clock }) => {
    await fs.mkdir('/d');
    const createdAt = clock.now;
    await fs.writeFile('/d/f.txt', 'héllo', { mode: 0o600 });
    const modifiedAt = clock.advance(1_000);
    await fs.appendFile('/d/f.txt', '!');
    const entry = await fs.getEntry('/d/f.txt');
    equal(entry, {
      name: 'f.txt',
      path: '/d/f.txt',
      kind: 'file',
      isDirectory: false,
      content: utf8('héllo!'),
      size: 7,
      mode: 0o600,
      uid: 0,
      gid: 0,
      createdAt,
      modifiedAt,
      changedAt: modifiedAt,
      accessedAt: createdAt,
      links: 1,
    });
    ok(entry.content instanceof Uint8Array, 'content is bytes');
  });

  add('a directory entry is empty, and so is the root', async ({ fs, clock }) => {
    await fs.mkdir('/d', { mode: 0o700 });
    const { now } = clock;
    const times = { createdAt: now, modifiedAt: now, changedAt: now, accessedAt: now };
    const empty = { isDirectory: true, content: utf8(''), size: 0, uid: 0, gid: 0, links: 1 };
    equal(await fs.getEntry('/d'), { name: 'd', path: '/d', kind: 'directory', mode: 0o700, ...empty, ...times });
    equal(await fs.getEntry('/'), { name: '/', path: '/', kind: 'directory', mode: 0o755, ...empty, ...times });
  });

  add("a symlink entry has its target and the target's size", async ({ fs, clock }) => {
    await fs.symlink('../é', '/l');
    const { now } = clock;
    const times = { createdAt: now, modifiedAt: now, changedAt: now, accessedAt: now };
    const rest = { isDirectory: false, content: utf8(''), size: 5, mode: 0o777, uid: 0, gid: 0, links: 1 };
    equal(await fs.getEntry('/l'), { name: 'l', path: '/l', kind: 'symlink', target: '../é', ...rest, ...times });
  });

  add(
    'getEntry does not follow a final link, follows those before it, and returns the real path',
    async ({ fs, fails }) => {
      await plant(fs, { '/d/f': 'x', '/l': { to: 'd' }, '/d/lf': { to: 'f' } });
      equal((await fs.getEntry('/l/f')).path, '/d/f');
      equal((await fs.getEntry('/d/lf')).kind, 'symlink');
      await fails(() => fs.getEntry('/d/missing'), 'ENOENT');
      await fails(() => fs.getEntry('/d/f/x'), 'ENOTDIR');
    },
  );

  add('defaults: 0644 for files, 0755 for directories, 0777 for links, 0755 for the root', async ({ fs }) => {
    await plant(fs, { '/f': '', '/d': null, '/l': { to: 'f' } });
    equal((await fs.lstat('/f')).mode, 0o100644);
    equal((await fs.lstat('/d')).mode, 0o040755);
    equal((await fs.lstat('/l')).mode, 0o120777);
    equal((await fs.lstat('/')).mode, 0o040755);
  });

  add('stat follows links, lstat does not', async ({ fs, fails }) => {
    await plant(fs, {
      '/f': '12345',
      '/d': null,
      '/lf': { to: 'f' },
      '/ld': { to: 'd' },
      '/dangling': { to: 'nowhere' },
    });
    const file = await fs.stat('/lf');
    equal([file.isFile(), file.isDirectory(), file.isSymbolicLink(), file.size], [true, false, false, 5]);
    const directory = await fs.stat('/ld');
    equal([directory.isFile(), directory.isDirectory(), directory.isSymbolicLink()], [false, true, false]);
    const link = await fs.lstat('/lf');
    equal([link.isFile(), link.isDirectory(), link.isSymbolicLink(), link.size], [false, false, true, 1]);
    equal((await fs.lstat('/dangling')).isSymbolicLink(), true);
    await fails(() => fs.stat('/dangling'), 'ENOENT');
    await fails(() => fs.stat('/f/x'), 'ENOTDIR');
    await fails(() => fs.lstat('/missing'), 'ENOENT');
  });

  add('stat has times as numbers and as dates, and a unique inode number for every node', async ({ fs, clock }) => {
    await plant(fs, { '/a': 'x', '/b': 'x' });
    const [a, b] = [await fs.stat('/a'), await fs.stat('/b')];
    equal(a.mtimeMs, clock.now);
    equal(a.mtime.getTime(), clock.now);
    equal([a.atime.getTime(), a.ctime.getTime(), a.birthtime.getTime()], [clock.now, clock.now, clock.now]);
    ok(a.ino !== b.ino, 'two files have two numbers');
    equal((await fs.stat('/a')).ino, a.ino);
    await fs.rename('/a', '/c');
    equal((await fs.stat('/c')).ino, a.ino, 'the number survives a rename');
  });

  add('exists, isFile and isDirectory follow links and return false for a missing path', async ({ fs }) => {
    await plant(fs, {
      '/f': '',
      '/d': null,
      '/lf': { to: 'f' },
      '/ld': { to: 'd' },
      '/x': { to: 'nowhere' },
      '/loop': { to: 'loop' },
    });
    const table: readonly [string, boolean, boolean, boolean][] = [
      ['/f', true, true, false],
      ['/d', true, false, true],
      ['/', true, false, true],
      ['/lf', true, true, false],
      ['/ld', true, false, true],
      ['/x', false, false, false],
      ['/loop', false, false, false],
      ['/loop/a', false, false, false],
      ['/missing', false, false, false],
      ['/missing/a', false, false, false],
      ['/f/a', false, false, false],
    ];
    for (const [path, exists, isFile, isDirectory] of table) {
      equal(
        [await fs.exists(path), await fs.isFile(path), await fs.isDirectory(path)],
        [exists, isFile, isDirectory],
        path,
      );
    }
  });

  add('access fails as stat does; only execution is checked', async ({ fs, fails }) => {
    await plant(fs, { '/f': '', '/d': null, '/dangling': { to: 'x' } });
    await fs.chmod('/f', 0o000);
    await fs.chmod('/d', 0o000);
    for (const mode of [0, 2, 4, 6]) await fs.access('/f', mode);
    await fs.access('/d', 7);
    await fails(() => fs.access('/f', 1), 'EACCES');
    await fs.chmod('/f', 0o010);
    await fs.access('/f', 7);
    await fails(() => fs.access('/missing'), 'ENOENT');
    await fails(() => fs.access('/dangling'), 'ENOENT');
    await fails(() => fs.access('/f/x'), 'ENOTDIR');
    await fails(() => fs.access('/f', 8), 'RangeError');
  });

  add('readdir returns names, or names with the methods of node', async ({ fs, fails }) => {
    await plant(fs, { '/d/b': 'bytes', '/d/a/deep': '', '/d/l': { to: 'b' }, '/ld': { to: 'd' } });
    equal(await fs.readdir('/d'), ['a', 'b', 'l']);
    equal(await fs.readdir('/ld'), ['a', 'b', 'l']);
    for (const path of ['/d', '/ld', 'd/', '/x/../d']) {
      equal(
        (await fs.readdir(path, { withFileTypes: true })).map((dirent) => [
          dirent.name,
          dirent.parentPath,
          dirent.isFile(),
          dirent.isDirectory(),
          dirent.isSymbolicLink(),
        ]),
        [
          ['a', path, false, true, false],
          ['b', path, true, false, false],
          ['l', path, false, false, true],
        ],
      );
    }
    await fails(() => fs.readdir('/d/b', { withFileTypes: true }), 'ENOTDIR');
  });

  add('readdir with recursive lists everything under a directory, without entering links', async ({ fs, fails }) => {
    await plant(fs, { '/d/b/x': '', '/d/b/y/z': '', '/d/a': '', '/d/l': { to: 'b' }, '/ld': { to: 'd' }, '/e': null });
    const names = ['a', 'b', 'b/x', 'b/y', 'b/y/z', 'l'];
    for (const path of ['/d', '/ld', 'd/']) {
      equal(await fs.readdir(path, { recursive: true }), names);
      const dirents = await fs.readdir(path, { recursive: true, withFileTypes: true });
      const top = path.replace(/\/$/, '');
      equal(
        dirents.map(({ parentPath, name }) => `${parentPath.replace(/\/$/, '')}/${name}`),
        names.map((name) => `${top}/${name}`),
      );
      equal(
        dirents.map((dirent) => dirent.isDirectory()),
        [false, true, false, true, false, false],
      );
    }
    equal((await fs.readdir('/', { recursive: true })).slice(0, 3), ['d', 'd/a', 'd/b']);
    equal(await fs.readdir('/e', { recursive: true }), []);
    await fails(() => fs.readdir('/missing', { recursive: true }), 'ENOENT');
    await fails(() => fs.readdir('/d/a', { recursive: true }), 'ENOTDIR');
  });

  add('opendir reads the entries of the time when it was called', async ({ fs, fails }) => {
    await plant(fs, { '/d/a': '', '/d/b': null });
    const dir = await fs.opendir('/d');
    await fs.rm('/d/b', { recursive: true });
    const names = [(await dir.read())?.name];
    for await (const dirent of dir) names.push(`${dirent.parentPath} ${dirent.name} ${dirent.isDirectory()}`);
    equal(names, ['a', '/d b true']);
    await fails(() => dir.read(), 'EBADF');
    await fails(() => fs.opendir('/missing'), 'ENOENT');
  });

  add('paths are also file: URLs, and bytes of UTF-8', async ({ fs, fails }) => {
    const utf8 = (path: string): Uint8Array => new TextEncoder().encode(path);
    await fs.mkdir(new URL('file:///d%20e'));
    await fs.writeFile(utf8('/d e/ä'), 'x');
    equal(await fs.readFile(new URL('file:///d e/ä'), 'utf8'), 'x');
    await fs.rename(utf8('/d e/ä'), new URL('file:///d e/b'));
    await fs.cp(new URL('file:///d e/b'), utf8('/c'));
    await fs.symlink(utf8('c'), new URL('file:///l'));
    equal(await fs.readdir(utf8('/')), ['c', 'd e', 'l']);
    equal([await fs.readlink(utf8('/l')), await fs.realpath(new URL('file:///l'))], ['c', '/c']);
    equal(
      (await collect(fs.walk(utf8('/d e')))).map(({ path }) => path),
      ['/d e/b'],
    );
    equal((await fs.readdir(new URL('file:///d e/'), { withFileTypes: true }))[0]?.parentPath, '/d e/');
    for (const url of ['https://a/c', 'file://host/c', 'file:///d%2fc', 'file:///d%5Cc', 'file:///%ff'])
      await fails(() => fs.stat(new URL(url)), 'TypeError');
    await fails(() => fs.stat(new Uint8Array([0x2f, 0xff])), 'TypeError');
    await fails(() => fs.stat(new URL('file:///a%00')), 'TypeError');
    await fails(() => fs.stat(utf8('/missing')), 'ENOENT');
  });

  add('entries returns everything about each entry, also with content', async ({ fs, fails }) => {
    await plant(fs, { '/d/b': 'bytes', '/d/a/deep': '', '/d/l': { to: 'b' }, '/ld': { to: 'd' } });
    const entries = await fs.entries('/d');
    equal(
      entries.map((entry) => [entry.name, entry.path, entry.kind, entry.size]),
      [
        ['a', '/d/a', 'directory', 0],
        ['b', '/d/b', 'file', 5],
        ['l', '/d/l', 'symlink', 1],
      ],
    );
    ok(!('content' in (entries[1] as object)), 'no content without the option');
    equal(await fs.entries('/ld'), entries);
    const full = await fs.entries('/d', { content: true });
    for (const entry of full) equal(entry, await fs.getEntry(entry.path));
    for (const list of [(path: string) => fs.readdir(path), (path: string) => fs.entries(path)]) {
      await fails(() => list('/d/b'), 'ENOTDIR');
      await fails(() => list('/missing'), 'ENOENT');
      await fails(() => list('/d/b/x'), 'ENOTDIR');
    }
  });

  add('walk lists everything under a directory, parents first, without entering links', async ({ fs, fails }) => {
    await plant(fs, { '/d/b/x': '1', '/d/a': '2', '/d/b.c': '3', '/d/l': { to: 'b' }, '/e': '4' });
    const paths = async (start?: string, maxDepth?: number): Promise<string[]> =>
      (await collect(fs.walk(start, maxDepth === undefined ? {} : { maxDepth }))).map((entry) => entry.path);
    equal(await paths(), ['/d', '/d/a', '/d/b', '/d/b/x', '/d/b.c', '/d/l', '/e']);
    equal(await paths('/d'), ['/d/a', '/d/b', '/d/b/x', '/d/b.c', '/d/l']);
    equal(await paths('/', 1), ['/d', '/e']);
    equal(await paths('/', 2), ['/d', '/d/a', '/d/b', '/d/b.c', '/d/l', '/e']);
    equal(await paths('/d/b'), ['/d/b/x']);
    await fails(() => paths('/missing'), 'ENOENT');
    await fails(() => paths('/d/a'), 'ENOTDIR');
    await fails(() => paths('/', 0), 'RangeError');
  });

  add('walk can be left early', async ({ fs }) => {
    await plant(fs, { '/a': '', '/b': '', '/c': '' });
    const seen: string[] = [];
    for await (const entry of fs.walk('/')) {
      seen.push(entry.name);
      if (entry.name === 'b') break;
    }
    equal(seen, ['a', 'b']);
  });
}
