import { equal } from './assert.js';
import { type Add, collect, plant } from './context.js';

export function copyCases(add: Add): void {
  add('cp copies a file into an independent file', async ({ fs, clock }) => {
    await fs.writeFile('/a', 'content', { mode: 0o640 });
    clock.advance(1_000);
    await fs.cp('/a', '/b');
    const [a, b] = [await fs.stat('/a'), await fs.stat('/b')];
    equal([b.mode & 0o7777, b.size, a.ino === b.ino], [0o640, 7, false]);
    equal([b.mtimeMs, b.birthtimeMs, b.ctimeMs], [clock.now, clock.now, clock.now]);
    await fs.appendFile('/a', '!');
    equal(await fs.readText('/b'), 'content');
    await fs.appendFile('/b', '?');
    equal(await fs.readText('/a'), 'content!');
  });

  add('cp takes what a filter accepts, and asks it about nothing under what it refuses', async ({ fs, fails }) => {
    await plant(fs, { '/d/a': '1', '/d/b.js': '2', '/d/e/c': '3', '/d/skip/x': '4', '/d/l': { to: 'a' } });
    const asked: string[] = [];
    const filter = (from: string, to: string): boolean => {
      asked.push(`${from} ${to}`);
      return !from.endsWith('skip') && !from.endsWith('.js');
    };
    await fs.cp('/d', '/new/copy', { recursive: true, filter });
    const names = ['', '/a', '/b.js', '/e', '/e/c', '/l', '/skip'];
    equal(
      asked.sort(),
      names.map((name) => `/d${name} /new/copy${name}`),
    );
    equal(await fs.readdir('/new/copy', { recursive: true }), ['a', 'e', 'e/c', 'l']);
    equal([await fs.readText('/new/copy/e/c'), await fs.readlink('/new/copy/l')], ['3', 'a']);
    await fs.cp('/d', '/none', { recursive: true, filter: () => false });
    equal(await fs.exists('/none'), false);
    await fs.cp('/d/a', '/one', { filter: () => 1 });
    equal(await fs.readText('/one'), '1');
    await fails(() => fs.cp('/d', '/d/e/new', { recursive: true, filter: () => true }), 'EINVAL');
    await fails(() => fs.cp('/missing', '/x', { filter: () => true }), 'ENOENT');
    await fails(() => fs.cp('/d/a', '/x', { filter: 'a' as never }), 'TypeError');
    equal(await fs.exists('/x'), false);
  });

  add('cp keeps the times with preserveTimestamps', async ({ fs, clock }) => {
    await fs.writeFile('/a', 'x');
    await fs.utimes('/a', 100, 200);
    clock.advance(1_000);
    await fs.cp('/a', '/b', { preserveTimestamps: true });
    const b = await fs.stat('/b');
    equal([b.atimeMs, b.mtimeMs, b.ctimeMs], [100_000, 200_000, clock.now]);
  });

  add('cp replaces a file unless force is false; errorOnExist makes that an error', async ({ fs, fails }) => {
    await plant(fs, { '/a': 'new', '/b': 'old' });
    await fs.cp('/a', '/b', { force: false });
    equal(await fs.readText('/b'), 'old');
    await fails(() => fs.cp('/a', '/b', { force: false, errorOnExist: true }), 'EEXIST');
    await fs.cp('/a', '/b');
    equal(await fs.readText('/b'), 'new');
  });

  add('cp of a directory needs recursive and copies all of it', async ({ fs, fails }) => {
    await plant(fs, { '/d/e/f': 'deep', '/d/x': '1', '/d/l': { to: 'x' }, '/d/empty': null });
    await fs.chmod('/d/e', 0o700);
    await fs.chmod('/d/x', 0o755);
    await fails(() => fs.cp('/d', '/c'), 'EISDIR');
    await fs.cp('/d', '/c', { recursive: true });
    const below = async (path: string): Promise<unknown[]> =>
      (await collect(fs.walk(path))).map((entry) => [
        entry.path.slice(path.length),
        entry.kind,
        entry.mode,
        entry.size,
      ]);
    equal(await below('/c'), await below('/d'));
    equal(await fs.readText('/c/e/f'), 'deep');
    equal(await fs.readlink('/c/l'), 'x');
    await fs.writeFile('/c/e/f', 'changed');
    await fs.writeFile('/d/x', 'too');
    equal([await fs.readText('/d/e/f'), await fs.readText('/c/x')], ['deep', '1']);
    const counts = await fs.stats();
    equal([counts.fileCount, counts.directoryCount], [6, 6]);
  });

  add('cp of a directory reports the first, in name order, of several obstacles', async ({ fs, fails }) => {
    await plant(fs, { '/s/b/x': '', '/s/a': '', '/t/b': '', '/t/a/x': '' });
    await fails(() => fs.cp('/s', '/t', { recursive: true }), 'EISDIR');
    await fs.rename('/s/a', '/s/c');
    await fails(() => fs.cp('/s', '/t', { recursive: true }), 'ENOTDIR');
  });

  add('cp merges into a directory that exists', async ({ fs, fails }) => {
    await plant(fs, { '/s/a': 'A', '/s/d/x': 'X', '/s/d/y': 'Y', '/t/b': 'B', '/t/d/x': 'old', '/t/d/z': 'Z' });
    await fs.cp('/s', '/t', { recursive: true });
    equal(
      (await collect(fs.walk('/t'))).map((entry) => entry.path),
      ['/t/a', '/t/b', '/t/d', '/t/d/x', '/t/d/y', '/t/d/z'],
    );
    equal(await fs.readText('/t/d/x'), 'X');
    await fails(() => fs.cp('/s', '/t', { recursive: true, force: false, errorOnExist: true }), 'EEXIST');
  });

  add('cp that is refused changes nothing', async ({ fs, fails }) => {
    await plant(fs, { '/d/a': '1', '/d/sub': null, '/f': 'x', '/t/sub': 'a file in the way', '/t/z': null });
    await fails(() => fs.cp('/missing', '/x'), 'ENOENT');
    await fails(() => fs.cp('/f', '/f'), 'EINVAL');
    await fails(() => fs.cp('/d', '/d', { recursive: true }), 'EINVAL');
    await fails(() => fs.cp('/d', '/d/sub/copy', { recursive: true }), 'EINVAL');
    await fails(() => fs.cp('/d', '/d/new', { recursive: true }), 'EINVAL');
    await fails(() => fs.cp('/', '/d/new', { recursive: true }), 'EINVAL');
    await fails(() => fs.cp('/f', '/d'), 'EISDIR', 'ENOTDIR');
    await fails(() => fs.cp('/d', '/f', { recursive: true }), 'ENOTDIR', 'EISDIR');
    await fails(() => fs.cp('/d', '/t', { recursive: true }), 'ENOTDIR', 'EISDIR');
    await fails(() => fs.cp('/f', '/f/x'), 'ENOTDIR');
  });

  add('cp creates missing parents, as node does', async ({ fs }) => {
    await plant(fs, { '/f': 'x', '/d/y': 'y' });
    await fs.cp('/f', '/new/deep/f');
    equal(await fs.readText('/new/deep/f'), 'x');
    await fs.cp('/d', '/other/d', { recursive: true });
    equal(await fs.readText('/other/d/y'), 'y');
  });

  add('cp accepts any spelling of its destination', async ({ fs }) => {
    await plant(fs, { '/f': 'x' });
    await fs.cp('/f', '/one/f/');
    await fs.cp('/f', 'two\\f');
    await fs.cp('\\f', '/gone/../three/./f');
    for (const path of ['/one/f', '/two/f', '/three/f']) equal(await fs.readText(path), 'x', path);
    equal(await fs.readdir('/'), ['f', 'one', 'three', 'two']);
  });

  add('cp of a link copies the link, of hard links creates independent files', async ({ fs }) => {
    await plant(fs, { '/f': 'x', '/l': { to: 'f' }, '/d/a': 'shared' });
    await fs.link('/d/a', '/d/b');
    await fs.cp('/l', '/m');
    equal(await fs.readlink('/m'), 'f');
    await fs.cp('/d', '/e', { recursive: true });
    equal([(await fs.stat('/e/a')).nlink, (await fs.stat('/e/b')).nlink, (await fs.stat('/d/a')).nlink], [1, 1, 2]);
    await fs.writeFile('/e/a', 'apart');
    equal([await fs.readText('/e/b'), await fs.readText('/d/a')], ['shared', 'shared']);
    equal((await fs.stats()).totalSize, 1 + 1 + 1 + 6 + 5 + 6);
  });

  add("cp onto one of two hard links keeps the other's content", async ({ fs }) => {
    await plant(fs, { '/a': 'old', '/n': 'new' });
    await fs.link('/a', '/b');
    await fs.cp('/n', '/a');
    equal([await fs.readText('/a'), await fs.readText('/b')], ['new', 'old']);
    equal((await fs.stat('/b')).nlink, 1);
  });

  add('changing the middle of a copy of a copy changes nothing else', async ({ fs }) => {
    await plant(fs, { '/1/x/y/z': 'deep', '/1/a': 'a' });
    await fs.cp('/1', '/2', { recursive: true });
    await fs.cp('/2', '/3', { recursive: true });
    await fs.cp('/1', '/3/x/again', { recursive: true });
    await fs.writeFile('/2/x/y/z', '2');
    await fs.rm('/3/x/y', { recursive: true });
    await fs.rename('/1/a', '/1/b');
    equal(await fs.readText('/1/x/y/z'), 'deep');
    equal(await fs.readdir('/2'), ['a', 'x']);
    equal(await fs.readdir('/3/x'), ['again']);
    equal(await fs.readdir('/3/x/again'), ['a', 'x']);
  });

  add(
    'copyFile follows links, keeps the inode number of a replaced file, and copies the mode',
    async ({ fs, fails }) => {
      await plant(fs, { '/s': 'source', '/t': 'target', '/ls': { to: 's' }, '/lt': { to: 't' }, '/d': null });
      await fs.chmod('/s', 0o755);
      await fs.link('/t', '/t2');
      await fs.copyFile('/ls', '/lt');
      equal([await fs.readText('/t'), await fs.readText('/t2')], ['source', 'source']);
      equal((await fs.stat('/t')).mode & 0o777, 0o755);
      equal((await fs.lstat('/lt')).isSymbolicLink(), true);
      await fs.copyFile('/s', '/new');
      equal((await fs.stat('/new')).mode & 0o777, 0o755);
      await fs.copyFile('/s', '/s');
      equal(await fs.readText('/s'), 'source');
      await fails(() => fs.copyFile('/s', '/t', { exclusive: true }), 'EEXIST');
      await fails(() => fs.copyFile('/d', '/x'), 'EISDIR');
      await fails(() => fs.copyFile('/s', '/d'), 'EISDIR');
      await fails(() => fs.copyFile('/missing', '/x'), 'ENOENT');
      await fails(() => fs.copyFile('/s', '/missing/x'), 'ENOENT');
    },
  );
}
