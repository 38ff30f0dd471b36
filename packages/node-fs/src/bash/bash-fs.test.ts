import { asyncForm, openFileSystem } from '@scratchfs/core';
import { mount } from '@scratchfs/core/layers';
import { asyncMemoryStorage, MemoryStorage } from '@scratchfs/memory';
import { Bash } from 'just-bash';
import { expect, it } from 'vitest';
import { createBashFs } from './create-bash-fs.js';

const memory = (files: Record<string, string> = {}) => openFileSystem(new MemoryStorage(), { files });

it('text and bytes are read and written in every encoding that just-bash names', async () => {
  const fs = createBashFs();
  await fs.writeFile('/a', 'aGk=', 'base64');
  expect(await fs.readFile('/a')).toBe('hi');
  await fs.appendFile('/a', '2121', { encoding: 'hex' });
  expect(await fs.readFile('/a', { encoding: 'utf8' })).toBe('hi!!');
  const everyByte = Uint8Array.from({ length: 20_000 }, (_, i) => i % 256);
  await fs.writeFile('/b', everyByte);
  const characters = await fs.readFile('/b', 'latin1');
  expect(characters).toBe(Array.from(everyByte, (byte) => String.fromCharCode(byte)).join(''));
  expect(await fs.readFileBytes?.('/b')).toBe(characters);
  expect(await fs.readFile('/b', 'base64')).toBe(Buffer.from(everyByte).toString('base64'));
  expect(await fs.readFile('/b', 'hex')).toBe(Buffer.from(everyByte).toString('hex'));
  await fs.writeFile('/c', characters, 'binary');
  expect(await fs.readFileBuffer('/c')).toEqual(everyByte);
  await fs.writeFile('/d', '\ufeffé');
  expect(await fs.readFile('/d')).toBe('\ufeffé');
});

it('read and written bytes do not alias stored bytes', async () => {
  const fs = createBashFs();
  const bytes = Uint8Array.of(1, 2, 3);
  await fs.writeFile('/a', bytes);
  bytes[0] = 9;
  const read = await fs.readFileBuffer('/a');
  read[1] = 9;
  expect([...(await fs.readFileBuffer('/a'))]).toEqual([1, 2, 3]);
});

it('stats have only permission bits, and identify two names of one file', async () => {
  const fs = createBashFs(memory({ '/a': 'x' }));
  await fs.link('/a', '/b');
  await fs.symlink('a', '/l');
  await fs.chmod('/l', 0o100751);
  const [a, b, l] = await Promise.all([fs.stat('/a'), fs.stat('/b'), fs.lstat('/l')]);
  expect(a).toMatchObject({ isFile: true, isDirectory: false, isSymbolicLink: false, mode: 0o751, size: 1 });
  expect([b.dev, b.ino]).toEqual([a.dev, a.ino]);
  expect(a.mtime).toBeInstanceOf(Date);
  expect(l).toMatchObject({ isFile: false, isSymbolicLink: true, size: 1 });
  expect((await fs.stat('/l')).isSymbolicLink).toBe(false);
  expect(await fs.readdirWithFileTypes?.('/')).toEqual([
    { name: 'a', isFile: true, isDirectory: false, isSymbolicLink: false },
    { name: 'b', isFile: true, isDirectory: false, isSymbolicLink: false },
    { name: 'l', isFile: false, isDirectory: false, isSymbolicLink: true },
  ]);
});

it('rm removes an empty directory without recursive, refuses a non-empty one, and keeps the target of a link', async () => {
  const fs = createBashFs(memory({ '/d/f': 'x', '/kept/f': 'x' }));
  await fs.mkdir('/empty');
  await fs.rm('/empty');
  await expect(fs.rm('/d')).rejects.toThrow('ENOTEMPTY');
  await expect(fs.rm('/none')).rejects.toThrow('ENOENT: no such file or directory');
  await fs.rm('/none', { force: true });
  await fs.symlink('/kept', '/link');
  await fs.rm('/link', { recursive: true });
  await fs.rm('/d', { recursive: true });
  expect(fs.getAllPaths()).toEqual(['/', '/kept', '/kept/f']);
});

it('cp writes through an existing file and keeps its mode; a link is copied as a link only with recursive', async () => {
  const inner = memory({ '/a': 'new', '/b': 'old' });
  const fs = createBashFs(inner);
  await fs.chmod('/a', 0o700);
  await fs.link('/b', '/b2');
  await fs.symlink('b', '/l');
  await fs.cp('/a', '/l');
  expect(await fs.readFile('/b2')).toBe('new');
  expect((await fs.stat('/b')).mode).toBe(0o644);
  await fs.cp('/a', '/fresh');
  expect((await fs.stat('/fresh')).mode).toBe(0o700);
  await fs.cp('/l', '/plain');
  expect((await fs.lstat('/plain')).isFile).toBe(true);
  await fs.cp('/l', '/same', { recursive: true });
  expect(await fs.readlink('/same')).toBe('b');
  await fs.mkdir('/d');
  await expect(fs.cp('/d', '/e')).rejects.toThrow('EISDIR');
  await expect(fs.cp('/a', '/no/where')).rejects.toThrow('ENOENT');
  await expect(fs.cp('/d', '/no/where', { recursive: true })).rejects.toThrow('ENOENT');
  expect(await fs.exists('/no')).toBe(false);
});

it('mv renames: a non-empty directory is not replaced, a file replaces a file', async () => {
  const fs = createBashFs(memory({ '/a/x': '1', '/b/y': '2', '/f': 'f', '/g': 'g' }));
  await expect(fs.mv('/a', '/b')).rejects.toThrow('ENOTEMPTY');
  await expect(fs.mv('/a', '/a/x/y')).rejects.toThrow(/EINVAL|ENOTDIR/);
  await expect(fs.mv('/f', '/b')).rejects.toThrow('EISDIR');
  await fs.mv('/f', '/g');
  expect(await fs.readFile('/g')).toBe('f');
  expect(fs.getAllPaths()).toEqual(['/', '/a', '/a/x', '/b', '/b/y', '/g']);
});

it('mv to another filesystem copies and then removes, and does not merge directories', async () => {
  const other = memory({ '/full/y': '2' });
  const fs = createBashFs(mount(memory({ '/d/x': '1', '/full/z': '3' }), { '/other': other }));
  await fs.mv('/d', '/other/d');
  expect(await other.readText('/d/x')).toBe('1');
  expect(await fs.exists('/d')).toBe(false);
  await expect(fs.mv('/full', '/other/full')).rejects.toThrow('ENOTEMPTY');
  expect(await fs.readFile('/full/z')).toBe('3');
});

it('devices exist in no listing, and nothing is stored for them', async () => {
  const inner = memory();
  const fs = createBashFs(inner);
  await fs.writeFile('/dev/null', 'gone');
  await fs.appendFile('/dev/../dev/stderr', 'gone');
  expect(await fs.readFile('/dev/null')).toBe('');
  expect(await fs.exists('/dev/null')).toBe(true);
  expect((await fs.stat('/dev/null')).isFile).toBe(true);
  await fs.cp('/dev/null', '/empty');
  await fs.cp('/empty', '/dev/null');
  await fs.utimes('/dev/null', new Date(), new Date());
  await expect(fs.rm('/dev/null')).rejects.toThrow('EACCES');
  await expect(fs.mv('/empty', '/dev/null')).rejects.toThrow('EACCES');
  await expect(fs.chmod('/dev/null', 0)).rejects.toThrow('EACCES');
  await expect(fs.symlink('x', '/dev/null')).rejects.toThrow('EEXIST');
  await expect(fs.readdir('/dev/null')).rejects.toThrow('ENOTDIR');
  expect(fs.getAllPaths()).toEqual(['/', '/empty']);
});

it('files that a shell keeps under device names are stored outside the filesystem, and count against its limits', async () => {
  const inner = openFileSystem(new MemoryStorage(), { limits: { maxTotalSize: 100_000 } });
  const fs = createBashFs(inner);
  expect(await fs.exists('/dev/fd/63')).toBe(false);
  await fs.writeFile('/dev/fd/63', 'kept');
  await fs.appendFile('/dev/fd/63', ' there');
  expect(await fs.readFile('/dev/fd/63')).toBe('kept there');
  expect(await fs.stat('/dev/fd/63')).toMatchObject({ isFile: true, size: 10 });
  expect(await fs.realpath('/dev/fd/63')).toBe('/dev/fd/63');
  await fs.cp('/dev/fd/63', '/copy');
  await expect(fs.mv('/copy', '/dev/fd/62')).rejects.toThrow('EACCES');
  await expect(fs.mkdir('/dev/fd/61')).rejects.toThrow('EEXIST');
  await expect(fs.writeFile('/dev/fd/60', 'x'.repeat(200_000))).rejects.toThrow('ENOSPC');
  for (const name of ['tty', 'fd/1', 'full', 'urandom', 'console', 'pts/0']) await fs.writeFile(`/dev/${name}`, 'x');
  expect(await fs.readFile('/dev/tty')).toBe('');
  expect(fs.getAllPaths()).toEqual(['/', '/copy']);
  expect(inner.readTextSync('/copy')).toBe('kept there');
  await fs.rm('/dev/fd/63');
  await fs.rm('/dev/fd/63', { force: true });
  expect(await fs.exists('/dev/fd/63')).toBe(false);
  await fs.writeFile('/dev/notes', 'a file as any other');
  expect(await fs.readdir('/dev')).toEqual(['notes']);
});

it('process substitution leaves nothing behind', async () => {
  const inner = memory();
  const shell = new Bash({ fs: createBashFs(inner), cwd: '/' });
  const { stdout } = await shell.exec(
    'cat <(echo hi) <(echo ho); echo out | tee >(cat >&2) > /dev/tty; echo a > /dev/fd/1',
  );
  expect(stdout).toContain('hi\nho\n');
  expect(inner.readdirSync('/')).toEqual([]);
});

it('creating a name with a backslash fails, and such a name does not exist', async () => {
  const fs = createBashFs(memory({ '/a/b': 'x' }));
  await expect(fs.writeFile('/a\\b', 'y')).rejects.toThrow('EINVAL');
  await expect(fs.mkdir('/a\\b')).rejects.toThrow('EINVAL');
  await expect(fs.mv('/a/b', '/a\\c')).rejects.toThrow('EINVAL');
  await expect(fs.readFile('/a\\b')).rejects.toThrow('ENOENT');
  expect(await fs.exists('/a\\b')).toBe(false);
  expect(await fs.readFile('/a/b')).toBe('x');
  expect(fs.resolvePath('/a', '../c\\d/./e/')).toBe('/c\\d/e');
});

it('writing creates missing directories', async () => {
  const fs = createBashFs();
  await fs.writeFile('/a/b/c', 'x');
  await fs.appendFile('/d/e', 'y');
  expect(fs.getAllPaths()).toEqual(['/', '/a', '/a/b', '/a/b/c', '/d', '/d/e']);
});

it('every method works over an asynchronous storage; only the list of all paths is empty', async () => {
  const fs = createBashFs(await openFileSystem(asyncMemoryStorage()));
  await fs.writeFile('/a/b', 'x');
  await fs.cp('/a', '/c', { recursive: true });
  await fs.mv('/c', '/d');
  expect(await fs.readdir('/')).toEqual(['a', 'd']);
  expect(await fs.realpath('/d/b')).toBe('/d/b');
  expect(fs.getAllPaths()).toEqual([]);
  const form = createBashFs(await openFileSystem(asyncForm(new MemoryStorage())));
  await form.writeFile('/x', 'y');
  expect(await form.readFile('/x')).toBe('y');
});

it('a value that is not a filesystem throws immediately', () => {
  for (const value of [null, {}, 'memory']) expect(() => createBashFs(value as never)).toThrow(TypeError);
});
