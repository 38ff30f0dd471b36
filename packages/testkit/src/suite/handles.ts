import { equal, rejects } from './assert.js';
import { type Add, plant, utf8 } from './context.js';

export function handleCases(add: Add): void {
  add('a handle reads and writes at a given or at its current position', async ({ fs }) => {
    await fs.writeFile('/f', '0123456789');
    const handle = await fs.open('/f', 'r+');
    const into = new Uint8Array(4);
    equal([await handle.read(into), into], [4, utf8('0123')]);
    equal([await handle.read(into, 7), into], [3, utf8('7893')]);
    equal([await handle.read(into, null), into], [4, utf8('4567')]);
    equal(await handle.write('ab'), 2);
    equal(await handle.write('XY', 0), 2);
    equal(await handle.write('!'), 1);
    equal(await handle.read(into), 0);
    equal(await fs.readText('/f'), 'XY234567ab!');
    await handle.close();
  });

  add(
    'open() of a file that is moved or removed concurrently follows it or fails with ENOENT',
    async ({ fs }) => {
      for (let round = 0; round < 6; round++) {
        await plant(fs, { [`/${round}`]: null, [`/${round}/f`]: 'text' });
        const file = `/${round}/f`;
        const away = () => (round % 3 === 0 ? fs.rename(`/${round}`, '/moved') : fs.rename(file, '/moved'));
        const leaves = () => (round % 3 === 2 ? fs.unlink(file) : away());
        const pair = [() => fs.open(file, 'r'), leaves] as const;
        const [opened] = await Promise.allSettled(
          round < 3 ? [pair[0](), pair[1]()] : [pair[1](), pair[0]()].reverse(),
        );
        if (opened?.status === 'rejected') equal((opened.reason as { code?: string }).code, 'ENOENT');
        else if (opened?.value !== undefined) {
          equal(await opened.value.readFile(), utf8('text'));
          await opened.value.close();
        }
        await fs.rm('/moved', { recursive: true, force: true });
      }
    },
    { promiseOnly: true },
  );

  add('a write past the end leaves zeros between', async ({ fs }) => {
    const handle = await fs.open('/f', 'w+');
    equal(await handle.write('end', 5), 3);
    equal(await handle.readFile(), Uint8Array.from([0, 0, 0, 0, 0, 0x65, 0x6e, 0x64]));
    await handle.close();
    equal((await fs.stats()).totalSize, 8);
  });

  add(
    'the flags of open decide whether it creates and truncates, and what the handle allows',
    async ({ fs, fails }) => {
      await plant(fs, { '/f': 'abc', '/d': null, '/l': { to: 'nowhere' } });
      for (const flags of ['r', 'r+'] as const) await fails(() => fs.open('/missing', flags), 'ENOENT');
      for (const flags of ['wx', 'wx+', 'ax', 'ax+'] as const) {
        await fails(() => fs.open('/f', flags), 'EEXIST');
        await fails(() => fs.open('/l', flags), 'EEXIST');
        await fails(() => fs.open('/d', flags), 'EEXIST');
      }
      for (const flags of ['r+', 'w', 'w+', 'a', 'a+'] as const) await fails(() => fs.open('/d', flags), 'EISDIR');
      for (const [i, flags] of (['w', 'wx', 'w+', 'wx+', 'a', 'ax', 'a+', 'ax+'] as const).entries()) {
        const handle = await fs.open(`/new${i}`, flags, { mode: 0o600 });
        await handle.write('x');
        await handle.close();
        equal(await fs.readText(`/new${i}`), 'x');
        equal((await fs.stat(`/new${i}`)).mode & 0o7777, 0o600);
      }
      for (const flags of ['r', 'r+', 'a', 'a+'] as const) {
        await (await fs.open('/f', flags)).close();
        equal(await fs.readText('/f'), 'abc', flags);
      }
      for (const flags of ['w', 'w+'] as const) {
        await fs.writeFile('/f', 'abc');
        await (await fs.open('/f', flags)).close();
        equal(await fs.readText('/f'), '', flags);
      }
      await rejects(() => fs.open('/f', 'rw' as never), 'TypeError', 'RangeError');
    },
  );

  add('reading a write-only handle and writing a read-only one is EBADF', async ({ fs, fails }) => {
    await fs.writeFile('/f', 'abc');
    for (const flags of ['w', 'a'] as const) {
      const handle = await fs.open('/f', flags);
      await fails(() => handle.read(new Uint8Array(1)), 'EBADF');
      await fails(() => handle.readFile(), 'EBADF');
      await handle.close();
    }
    const handle = await fs.open('/f', 'r');
    await fails(() => handle.write('x'), 'EBADF');
    await fails(() => handle.writeFile('x'), 'EBADF');
    await fails(() => handle.truncate(0), 'EINVAL');
    await handle.close();
  });

  add('a handle with flag a always writes at the end, whatever the position', async ({ fs }) => {
    await fs.writeFile('/f', 'abc');
    const handle = await fs.open('/f', 'a+');
    await handle.write('1', 0);
    await fs.appendFile('/f', '2');
    await handle.write('3');
    equal(await fs.readText('/f'), 'abc123');
    const into = new Uint8Array(3);
    equal([await handle.read(into, 0), into], [3, utf8('abc')]);
    await handle.close();
  });

  add('two handles with flag a never overwrite each other', async ({ fs }) => {
    const [one, two] = [await fs.open('/log', 'a'), await fs.open('/log', 'a')];
    for (let i = 0; i < 20; i++) {
      await one.write('1');
      await two.write('2');
    }
    await one.close();
    await two.close();
    equal(await fs.readText('/log'), '12'.repeat(20));
  });

  add('a handle follows its file through renames of the file and of its parents', async ({ fs }) => {
    await plant(fs, { '/d/f': 'abc' });
    const handle = await fs.open('/d/f', 'r+');
    await fs.rename('/d/f', '/d/g');
    await handle.write('1', 0);
    await fs.rename('/d', '/e');
    await handle.write('2', 1);
    await fs.writeFile('/e/f', 'another');
    equal(await fs.readText('/e/g'), '12c');
    equal(await handle.readFile(), utf8('12c'));
    await handle.close();
  });

  add('an open file that is unlinked exists until it is closed', async ({ fs }) => {
    await fs.writeFile('/f', 'abc');
    const handle = await fs.open('/f', 'r+');
    await fs.unlink('/f');
    equal(await fs.stats(), { totalSize: 0, fileCount: 0, directoryCount: 0, nodeCount: 0 });
    await handle.write('def', 3);
    equal(await handle.readFile(), utf8('abcdef'));
    equal((await handle.stat()).size, 6);
    equal((await handle.stat()).nlink, 0);
    await handle.truncate(1);
    await fs.writeFile('/f', 'new');
    equal((await handle.stat()).size, 1);
    equal(await fs.readText('/f'), 'new');
    await handle.close();
    equal(await fs.readText('/f'), 'new');
  });

  add('an open file survives rm -r of its directory and a rename over it', async ({ fs }) => {
    await plant(fs, { '/d/f': 'one', '/g': 'two', '/h': 'three' });
    const [f, g] = [await fs.open('/d/f', 'r+'), await fs.open('/g', 'r')];
    await fs.rm('/d', { recursive: true });
    await fs.rename('/h', '/g');
    await f.write('ONE!');
    equal(await f.read(new Uint8Array(9), 0), 4);
    equal(await g.readFile(), utf8('two'));
    equal(await fs.readText('/g'), 'three');
    await f.close();
    await g.close();
  });

  add('an open directory keeps its stats when it is removed or replaced', async ({ fs }) => {
    for (const path of ['/a', '/b/deep', '/c', '/new']) await fs.mkdir(path, { recursive: true, mode: 0o750 });
    const handles = [await fs.open('/a', 'r'), await fs.open('/b/deep', 'r'), await fs.open('/c', 'r')];
    await fs.rmdir('/a');
    await fs.rm('/b', { recursive: true });
    await fs.rename('/new', '/c');
    for (const handle of handles) {
      equal([(await handle.stat()).nlink, (await handle.stat()).mode & 0o777], [0, 0o750]);
      await handle.chmod(0o700);
      equal((await handle.stat()).mode & 0o777, 0o700);
      await handle.close();
    }
    equal((await fs.stat('/c')).mode & 0o777, 0o750);
  });

  add('a handle on one hard link writes what a handle on another reads', async ({ fs }) => {
    await fs.writeFile('/a', 'x');
    await fs.link('/a', '/b');
    const handle = await fs.open('/a', 'r+');
    await fs.unlink('/a');
    await handle.write('y');
    equal(await fs.readText('/b'), 'y');
    await handle.close();
  });

  add('a handle sees other writes to the file, and its own are visible', async ({ fs }) => {
    await fs.writeFile('/f', 'abc');
    const handle = await fs.open('/f', 'r+');
    await fs.writeFile('/f', 'replaced');
    equal(await handle.readFile(), utf8('replaced'));
    await handle.truncate(2);
    equal(await fs.readText('/f'), 're');
    await handle.chmod(0o600);
    await handle.utimes(1, 2);
    await fs.rename('/f', '/g');
    await handle.chown(7, -1);
    const stat = await fs.stat('/g');
    equal([stat.mode & 0o777, stat.atimeMs, stat.mtimeMs], [0o600, 1_000, 2_000]);
    equal([stat.uid, stat.gid], [7, 0]);
    await handle.close();
  });

  add('handle.writeFile writes from the current position', async ({ fs }) => {
    const handle = await fs.open('/f', 'w+');
    await handle.writeFile('abc');
    await handle.writeFile('def');
    equal(await fs.readText('/f'), 'abcdef');
    await handle.close();
  });

  add('a directory can be opened for stat, not for reading', async ({ fs, fails }) => {
    await fs.mkdir('/d');
    const handle = await fs.open('/d', 'r');
    equal((await handle.stat()).isDirectory(), true);
    await fails(() => handle.read(new Uint8Array(1)), 'EISDIR');
    await fails(() => handle.readFile(), 'EISDIR');
    await handle.close();
  });

  add('after close every method is EBADF, and close itself is idempotent', async ({ fs, fails }) => {
    await fs.writeFile('/f', 'abc');
    const handle = await fs.open('/f', 'r+');
    await handle.close();
    await handle.close();
    await fails(() => handle.read(new Uint8Array(1)), 'EBADF');
    await fails(() => handle.write('x'), 'EBADF');
    await fails(() => handle.readFile(), 'EBADF');
    await fails(() => handle.writeFile('x'), 'EBADF');
    await fails(() => handle.truncate(0), 'EBADF');
    await fails(() => handle.stat(), 'EBADF');
    await fails(() => handle.chmod(0), 'EBADF');
    await fails(() => handle.utimes(0, 0), 'EBADF');
  });

  add('positions and lengths that are not integers from 0 up are refused', async ({ fs, fails }) => {
    await fs.writeFile('/f', 'abc');
    const handle = await fs.open('/f', 'r+');
    for (const bad of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      await fails(() => handle.read(new Uint8Array(1), bad), 'RangeError', 'EINVAL', 'EFBIG');
      await fails(() => handle.write('x', bad), 'RangeError', 'EINVAL', 'EFBIG');
      await fails(() => handle.truncate(bad), 'RangeError', 'EINVAL', 'EFBIG');
    }
    for (const bad of ['1', {}, true]) {
      await fails(() => handle.read(new Uint8Array(1), bad as never), 'TypeError');
      await fails(() => handle.write('x', bad as never), 'TypeError');
    }
    await fails(() => handle.read([] as never), 'TypeError');
    await fails(() => handle.write(5 as never), 'TypeError');
    await handle.close();
  });
}
