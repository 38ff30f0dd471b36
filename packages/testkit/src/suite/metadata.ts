import { equal } from './assert.js';
import { type Add, plant } from './context.js';

export function metadataCases(add: Add): void {
  add('chmod sets the permission bits and nothing else', async ({ fs, fails, clock }) => {
    await plant(fs, { '/f': 'x', '/d': null });
    const before = await fs.stat('/f');
    const now = clock.advance(7);
    for (const mode of [0o000, 0o777, 0o4755, 0o1777, 0o100600]) {
      await fs.chmod('/f', mode);
      await fs.chmod('/d', mode);
      equal((await fs.stat('/f')).mode, 0o100000 | (mode & 0o7777));
      equal((await fs.stat('/d')).mode, 0o040000 | (mode & 0o7777));
    }
    const after = await fs.stat('/f');
    equal([after.mtimeMs, after.atimeMs, after.birthtimeMs], [before.mtimeMs, before.atimeMs, before.birthtimeMs]);
    equal(after.ctimeMs, now);
    await fails(() => fs.chmod('/missing', 0), 'ENOENT');
    await fails(() => fs.chmod('/f', -1), 'RangeError');
    await fails(() => fs.chmod('/f', 1.5), 'RangeError');
    await fails(() => fs.chmod('/f', '0x644'), 'TypeError');
    await fs.chmod('/f', '0640');
    equal((await fs.stat('/f')).mode & 0o7777, 0o640);
  });

  add('modes are stored, not enforced', async ({ fs }) => {
    await plant(fs, { '/d/f': 'x' });
    await fs.chmod('/d/f', 0o000);
    await fs.chmod('/d', 0o000);
    equal(await fs.readText('/d/f'), 'x');
    await fs.writeFile('/d/f', 'y');
    await fs.writeFile('/d/g', 'z');
    equal(await fs.readdir('/d'), ['f', 'g']);
    equal((await fs.stat('/d/f')).mode & 0o7777, 0o000, 'a write keeps the mode');
  });

  add('modes survive rename, copy, append and truncate', async ({ fs }) => {
    await fs.writeFile('/f', 'x', { mode: 0o711 });
    await fs.appendFile('/f', 'y');
    await fs.truncate('/f', 1);
    await fs.writeFile('/f', 'z');
    await fs.rename('/f', '/g');
    await fs.cp('/g', '/h');
    equal([(await fs.stat('/g')).mode & 0o777, (await fs.stat('/h')).mode & 0o777], [0o711, 0o711]);
  });

  add('chown and lchown store owners; -1 leaves one as it is', async ({ fs, fails }) => {
    await plant(fs, { '/f': 'x', '/l': { to: 'f' } });
    await fs.chown('/l', 10, 20);
    await fs.lchown('/l', 30, 40);
    equal([(await fs.stat('/f')).uid, (await fs.stat('/f')).gid], [10, 20]);
    equal([(await fs.lstat('/l')).uid, (await fs.lstat('/l')).gid], [30, 40]);
    await fs.chown('/f', -1, 21);
    equal([(await fs.stat('/f')).uid, (await fs.stat('/f')).gid], [10, 21]);
    await fails(() => fs.chown('/f', 1.5, 0), 'RangeError');
    await fails(() => fs.chown('/f', 0, '1' as never), 'TypeError');
    await fails(() => fs.chown('/missing', 0, 0), 'ENOENT');
  });

  add('utimes takes seconds or dates, lutimes the link itself', async ({ fs, clock, fails }) => {
    await plant(fs, { '/f': 'x', '/l': { to: 'f' } });
    const now = clock.advance(5);
    await fs.utimes('/l', 1.5, new Date(2_000));
    await fs.lutimes('/l', new Date(-3_000), 4);
    const [f, l] = [await fs.stat('/f'), await fs.lstat('/l')];
    equal([f.atimeMs, f.mtimeMs, f.ctimeMs], [1_500, 2_000, now]);
    equal([l.atimeMs, l.mtimeMs, l.ctimeMs], [-3_000, 4_000, now]);
    await fails(() => fs.utimes('/f', Number.NaN, 1), 'RangeError');
    await fails(() => fs.utimes('/f', 1, Number.POSITIVE_INFINITY), 'RangeError');
    await fails(() => fs.utimes('/f', new Date(Number.NaN), 1), 'RangeError');
    await fails(() => fs.utimes('/f', 'now', 1), 'TypeError');
    await fs.utimes('/f', '1.5', '2');
    equal((await fs.stat('/f')).atimeMs, 1500);
    await fails(() => fs.utimes('/f', undefined as never, 1), 'TypeError');
    await fails(() => fs.utimes('/missing', 1, 1), 'ENOENT');
  });

  add('every change of a file updates mtime and ctime, and reading updates neither', async ({ fs, clock }) => {
    await plant(fs, { '/d/f': 'x' });
    const read = async (): Promise<number[]> => {
      const stat = await fs.stat('/d/f');
      return [stat.atimeMs, stat.mtimeMs, stat.ctimeMs, stat.birthtimeMs];
    };
    const born = clock.now;
    const changes: readonly (() => Promise<unknown>)[] = [
      () => fs.writeFile('/d/f', 'same size?'),
      () => fs.appendFile('/d/f', 'x'),
      () => fs.truncate('/d/f', 2),
      () => fs.writeFile('/d/f', 'r', { flag: 'r+' }),
      () => fs.editFile('/d/f', 'r', 'e'),
      () => fs.copyFile('/d/f', '/d/g').then(() => fs.copyFile('/d/g', '/d/f')),
    ];
    for (const [i, change] of changes.entries()) {
      const now = clock.advance(10);
      await change();
      equal(await read(), [born, now, now, born], `change ${i}`);
    }
    const last = clock.now;
    clock.advance(10);
    await fs.readFile('/d/f');
    await fs.readdir('/d');
    await fs.exists('/d/f');
    await (await fs.open('/d/f', 'r')).close();
    equal(await read(), [born, last, last, born]);
    equal((await fs.stat('/d')).atimeMs, born);
  });

  add('appending or writing no bytes changes nothing', async ({ fs, clock }) => {
    await fs.writeFile('/f', 'x');
    const { mtimeMs } = await fs.stat('/f');
    clock.advance(10);
    await fs.appendFile('/f', '');
    await fs.writeFile('/f', '', { flag: 'r+' });
    equal((await fs.stat('/f')).mtimeMs, mtimeMs);
  });

  add("a directory's times change only with its names", async ({ fs, clock }) => {
    await plant(fs, { '/d/f': 'x', '/e/g': 'y' });
    const born = clock.now;
    const times = async (path: string): Promise<number[]> => {
      const stat = await fs.stat(path);
      return [stat.mtimeMs, stat.ctimeMs];
    };
    clock.advance(10);
    await fs.writeFile('/d/f', 'changed');
    await fs.chmod('/d/f', 0o600);
    equal(await times('/d'), [born, born], 'a change of a file leaves its directory');
    const changes: readonly (() => Promise<unknown>)[] = [
      () => fs.writeFile('/d/new', ''),
      () => fs.unlink('/d/new'),
      () => fs.mkdir('/d/sub'),
      () => fs.rmdir('/d/sub'),
      () => fs.symlink('x', '/d/l'),
      () => fs.link('/d/f', '/d/h'),
      () => fs.rename('/d/l', '/d/m'),
      () => fs.rm('/d/m'),
      () => fs.cp('/d/f', '/d/c'),
      () => fs.rename('/d/c', '/e/c'),
    ];
    for (const [i, change] of changes.entries()) {
      const now = clock.advance(10);
      await change();
      equal(await times('/d'), [now, now], `change ${i}`);
    }
    equal(await times('/e'), [clock.now, clock.now], 'both directories of a rename');
    equal((await times('/'))[0], born, 'the root has the same names');
  });

  add('rename and link update ctime, not mtime', async ({ fs, clock }) => {
    await plant(fs, { '/f': 'x', '/d/x': '' });
    const born = clock.now;
    let now = clock.advance(10);
    await fs.link('/f', '/g');
    equal([(await fs.stat('/f')).mtimeMs, (await fs.stat('/f')).ctimeMs], [born, now]);
    now = clock.advance(10);
    await fs.rename('/g', '/h');
    await fs.rename('/d', '/e');
    equal([(await fs.stat('/h')).mtimeMs, (await fs.stat('/h')).ctimeMs], [born, now]);
    equal([(await fs.stat('/e')).mtimeMs, (await fs.stat('/e')).ctimeMs], [born, now]);
    now = clock.advance(10);
    await fs.unlink('/h');
    equal((await fs.stat('/f')).ctimeMs, now, 'one name less');
  });
}
