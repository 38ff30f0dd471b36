import { equal, ok } from './assert.js';
import { type Add, plant } from './context.js';

export function directoryCases(add: Add): void {
  add('mkdir creates one directory', async ({ fs, fails }) => {
    equal(await fs.mkdir('/d'), undefined);
    equal(await fs.readdir('/d'), []);
    await fs.writeFile('/f', '');
    await fs.symlink('nowhere', '/dangling');
    await fs.symlink('d', '/ld');
    for (const path of ['/d', '/f', '/dangling', '/ld', '/']) await fails(() => fs.mkdir(path), 'EEXIST');
    await fails(() => fs.mkdir('/missing/x'), 'ENOENT');
    await fails(() => fs.mkdir('/f/x'), 'ENOTDIR');
    await fails(() => fs.mkdir('/dangling/x'), 'ENOENT');
    await fs.mkdir('/ld/inside');
    equal(await fs.readdir('/d'), ['inside']);
  });

  add(
    'mkdir with recursive creates missing parents and returns the first directory that it created',
    async ({ fs }) => {
      equal(await fs.mkdir('/a/b/c', { recursive: true, mode: 0o700 }), '/a');
      equal((await fs.stat('/a')).mode & 0o777, 0o700);
      equal(await fs.mkdir('/a/b/c/d/e', { recursive: true }), '/a/b/c/d');
      equal(await fs.mkdir('/a/b/c', { recursive: true }), undefined);
      equal(await fs.mkdir('/', { recursive: true }), undefined);
      equal((await fs.stats()).directoryCount, 5);
    },
  );

  add('mkdir with recursive follows links to directories and fails at any other entry', async ({ fs, fails }) => {
    await plant(fs, {
      '/d': null,
      '/f': '',
      '/ld': { to: 'd' },
      '/lf': { to: 'f' },
      '/loop': { to: 'loop' },
      '/dangling': { to: 'x' },
    });
    equal(await fs.mkdir('/ld', { recursive: true }), undefined);
    equal(await fs.mkdir('/ld/a/b', { recursive: true }), '/ld/a', 'the path as it was given, as node has it');
    equal(await fs.readdir('/d/a'), ['b']);
    await fails(() => fs.mkdir('/f', { recursive: true }), 'EEXIST');
    await fails(() => fs.mkdir('/lf', { recursive: true }), 'EEXIST');
    await fails(() => fs.mkdir('/f/x', { recursive: true }), 'ENOTDIR');
    await fails(() => fs.mkdir('/f/x/y', { recursive: true }), 'ENOTDIR');
    await fails(() => fs.mkdir('/lf/x', { recursive: true }), 'ENOTDIR');
    await fails(() => fs.mkdir('/loop/x', { recursive: true }), 'ELOOP');
    await fails(() => fs.mkdir('/dangling/x', { recursive: true }), 'ENOENT');
    await fails(() => fs.mkdir(`/new/${'n'.repeat(256)}`, { recursive: true }), 'ENAMETOOLONG');
  });

  add('mkdtemp creates a new directory each time', async ({ fs, fails }) => {
    await fs.mkdir('/tmp');
    const made = new Set<string>();
    for (let i = 0; i < 20; i++) made.add(await fs.mkdtemp('/tmp/work-'));
    equal(made.size, 20);
    for (const path of made) {
      ok(/^\/tmp\/work-[a-zA-Z0-9]{6}$/.test(path), `${path} is the prefix and six characters`);
      equal((await fs.stat(path)).mode, 0o040700);
    }
    await fails(() => fs.mkdtemp('/missing/x-'), 'ENOENT');
  });

  add('rmdir removes an empty directory and nothing else', async ({ fs, fails }) => {
    await plant(fs, { '/empty': null, '/full/x': '', '/f': '', '/l': { to: 'empty' } });
    await fails(() => fs.rmdir('/full'), 'ENOTEMPTY');
    await fails(() => fs.rmdir('/f'), 'ENOTDIR');
    await fails(() => fs.rmdir('/l'), 'ENOTDIR');
    await fails(() => fs.rmdir('/missing'), 'ENOENT');
    await fails(() => fs.rmdir('/'), 'EBUSY');
    await fs.rmdir('/empty');
    equal(await fs.readdir('/'), ['f', 'full', 'l']);
  });

  add('unlink removes a file or a link, not a directory', async ({ fs, fails }) => {
    await plant(fs, { '/d': null, '/f': '', '/lf': { to: 'f' }, '/ld': { to: 'd' }, '/dangling': { to: 'x' } });
    await fails(() => fs.unlink('/d'), 'EISDIR');
    await fails(() => fs.unlink('/'), 'EISDIR');
    await fails(() => fs.unlink('/missing'), 'ENOENT');
    await fails(() => fs.unlink('/f/x'), 'ENOTDIR');
    for (const path of ['/ld', '/lf', '/dangling', '/f']) await fs.unlink(path);
    equal(await fs.readdir('/'), ['d']);
  });

  add('rm removes a file or a link, and with recursive a directory', async ({ fs, fails }) => {
    await plant(fs, { '/d/e/f': 'x', '/d/g': 'y', '/keep/x': 'kept', '/d/l': { to: '/keep' }, '/f': '' });
    await fails(() => fs.rm('/d'), 'EISDIR');
    await fails(() => fs.rm('/d', { force: true }), 'EISDIR');
    await fails(() => fs.rm('/missing'), 'ENOENT');
    await fails(() => fs.rm('/missing', { recursive: true }), 'ENOENT');
    await fails(() => fs.rm('/f/x', { force: true }), 'ENOTDIR');
    await fails(() => fs.rm('/', { recursive: true }), 'EBUSY');
    await fails(() => fs.rm('/', { recursive: true, force: true }), 'EBUSY');
    await fs.rm('/missing', { force: true });
    await fs.rm('/missing/deep', { force: true });
    await fs.rm('/f');
    await fs.rm('/d', { recursive: true });
    equal(await fs.readdir('/'), ['keep']);
    equal(await fs.readText('/keep/x'), 'kept', 'rm -r of a link keeps what it points to');
    equal(await fs.stats(), { totalSize: 4, fileCount: 1, directoryCount: 1, nodeCount: 2 });
  });

  add('rm of a link to a directory removes the link, with recursive too', async ({ fs }) => {
    await plant(fs, { '/d/x': 'kept', '/l': { to: 'd' }, '/m': { to: 'd' } });
    await fs.rm('/l');
    await fs.rm('/m', { recursive: true });
    equal(await fs.readText('/d/x'), 'kept');
    equal(await fs.readdir('/'), ['d']);
  });

  add('rm leaves siblings untouched', async ({ fs }) => {
    await plant(fs, { '/d': null, '/d-e': '1', '/d.f': '2', '/d/x': '', '/e/d': '3' });
    await fs.rm('/d', { recursive: true });
    equal(await fs.readdir('/'), ['d-e', 'd.f', 'e']);
    equal(await fs.readText('/e/d'), '3');
  });

  add('a directory of 1,000 names lists them all, sorted, and can be emptied', async ({ fs }) => {
    await fs.mkdir('/d');
    const names = Array.from({ length: 1_000 }, (_, i) => `n${(i * 7919) % 1_000}`);
    for (const name of names) await fs.writeFile(`/d/${name}`, name);
    equal(await fs.readdir('/d'), [...names].sort());
    for (const name of names.slice(0, 900)) await fs.unlink(`/d/${name}`);
    equal(await fs.readdir('/d'), names.slice(900).sort());
    for (const name of names.slice(900)) equal(await fs.readText(`/d/${name}`), name);
  });
}
