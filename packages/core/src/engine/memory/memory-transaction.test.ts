import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../../async-storage.js';
import { openFileSystem } from '../../create-file-system.js';
import { StorageError } from '../../errors.js';
import { ExecutorSyncStorage } from '../../executor-storage.js';
import type { SyncFileHandle } from '../../file-handle.js';
import type { FileSystem, SyncFileSystem } from '../../file-system.js';
import { overlay, readonly } from '../../layers.js';
import { createSnapshot, restoreSnapshot } from '../../snapshot.js';
import { sampleBackend } from '../../testing/sample-backend.js';
import { sample } from '../../testing/sample-file-system.js';
import { rootMeta } from '../defaults.js';
import { clear, setMany } from '../operations/entries.js';
import { MemoryExecutor } from './memory-executor.js';

function memory(): SyncFileSystem {
  const storage = new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0);
  const fs = openFileSystem(storage, { clock: () => 1_000 });
  fs.mkdirSync('/d/e', { recursive: true });
  fs.writeFileSync('/d/a', 'a');
  fs.writeFileSync('/d/e/b', 'b');
  fs.writeFileSync('/other', '');
  return fs;
}

function withoutForks(fs: SyncFileSystem, check: (method: string | symbol) => void = () => {}): SyncFileSystem {
  return new Proxy(fs, {
    get(target, key) {
      check(key);
      if (key === 'capabilities') return { ...target.capabilities, forks: false };
      const value = Reflect.get(target, key, target) as unknown;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Runs a transaction with a concurrent change before its first run ends. Returns the number of runs. */
async function beside(
  fs: FileSystem,
  inside: (inner: FileSystem) => Promise<unknown>,
  outside: () => unknown,
): Promise<number> {
  let runs = 0;
  await fs.transaction(async (inner) => {
    await inside(inner);
    if (++runs === 1) await outside();
    await inner.writeFile('/done', `${runs}`);
  });
  expect(await fs.readText('/done')).toBe(String(runs));
  return runs;
}

async function make(t: FileSystem): Promise<void> {
  await t.mkdir('/d/new/deep', { recursive: true });
  await t.writeFile('/d/new/deep/f', 'one');
  await t.symlink('../e', '/d/new/s');
  await t.link('/d/new/deep/f', '/d/e/f');
  await t.link('/link', '/d/new/l');
  await t.truncate('/d/new/deep/f', 2);
}

async function copyAndChange(t: FileSystem): Promise<void> {
  await t.cp('/d', '/copy', { recursive: true });
  await t.appendFile('/copy/a', '!');
  await t.rm('/copy/e', { recursive: true });
  await t.copyFile('/d/a', '/copy/b');
  await t.rename('/copy/b', '/d/e/c');
}

async function metadata(t: FileSystem): Promise<void> {
  await t.chmod('/', 0o700);
  await t.utimes('/d', 1, 2);
  await t.chown('/d/a', 3, 4);
}

async function throughOtherName(t: FileSystem): Promise<void> {
  const file = await t.open('/d/linked', 'r+');
  await t.unlink('/d/linked');
  await file.write('changed');
  await file.chmod(0o600);
  await file.close();
}

describe('a transaction in memory', () => {
  it('commits beside a plain writer that is never idle', async () => {
    const fs = memory();
    let written = 0;
    const writer = setInterval(() => fs.writeFileSync('/other', `${++written}`), 1);
    let runs = 0;
    await fs.transaction(async (inner) => {
      runs += 1;
      await inner.writeFile('/d/a', `${await inner.readText('/d/a')}!`);
      for (const since = written; written < since + 10; ) await new Promise((resolve) => setTimeout(resolve, 3));
      await inner.mkdir('/d/new');
    });
    clearInterval(writer);
    expect([runs, fs.readTextSync('/d/a'), fs.existsSync('/d/new')]).toEqual([1, 'a!', true]);
    expect(fs.readTextSync('/other')).toBe(String(written));
  });

  it('runs again if a file that it read was written, and ends with both changes', async () => {
    const fs = memory();
    const append = (inner: FileSystem) => inner.appendFile('/d/a', '+');
    expect(await beside(fs, append, () => fs.appendFileSync('/d/a', '-'))).toBe(2);
    expect(fs.readTextSync('/d/a')).toBe('a-+');
  });

  const again: [string, (inner: FileSystem) => Promise<unknown>, (fs: SyncFileSystem) => unknown][] = [
    ['a new name in a directory that it listed', (t) => t.readdir('/d'), (fs) => fs.writeFileSync('/d/new', '')],
    ['a name that it did not find', (t) => t.exists('/d/new'), (fs) => fs.mkdirSync('/d/new')],
    ['a name gone from under it', (t) => t.exists('/d/e/b'), (fs) => fs.renameSync('/d/e', '/e')],
    ['the mode of a directory', (t) => t.stat('/d'), (fs) => fs.chmodSync('/d', 0o700)],
    ['what it listed with sizes', (t) => t.entries('/d'), (fs) => fs.writeFileSync('/d/a', 'new')],
    ['the totals', (t) => t.stats(), (fs) => fs.writeFileSync('/other', 'more')],
    ['what it copied', (t) => t.cp('/d', '/copy', { recursive: true }), (fs) => fs.writeFileSync('/d/e/b', 'new')],
    ['what it copied, by another name', (t) => t.cp('/d', '/c', { recursive: true }), (fs) => fs.truncateSync('/link')],
    ['a file of which it found one name', (t) => t.exists('/link'), (fs) => fs.truncateSync('/d/linked')],
    ['what it took a snapshot of', (t) => createSnapshot(t), (fs) => fs.writeFileSync('/other', 'more')],
    ['another name of a file', (t) => t.readText('/link'), (fs) => fs.appendFileSync('/d/linked', '!')],
    ['a directory that it removed a file from', (t) => t.rmdir('/d/e').catch(() => {}), (fs) => fs.rmSync('/d/e/b')],
    [
      'the totals that it put another state into the place of',
      async (t) => restoreSnapshot(t, await createSnapshot(memory())),
      (fs) => fs.writeFileSync('/lost', ''),
    ],
    [
      'a directory that took the place of one',
      (t) => t.readdir('/d/e'),
      (fs) => {
        fs.rmSync('/d/e', { recursive: true });
        fs.mkdirSync('/d/e');
      },
    ],
    [
      'a file with several names that took the place of one',
      (t) => t.readText('/link'),
      (fs) => {
        fs.unlinkSync('/link');
        fs.linkSync('/d/a', '/link');
      },
    ],
    ['all of it, by a rollback', (t) => t.readText('/d/a'), (fs) => fs.rollbackSync('before')],
  ];
  it.each(again)('runs again for %s', async (_, inside, outside) => {
    const fs = memory();
    fs.checkpointSync('before');
    fs.writeFileSync('/d/a', 'later');
    fs.writeFileSync('/d/linked', 'x');
    fs.linkSync('/d/linked', '/link');
    expect(await beside(fs, inside, () => outside(fs))).toBe(2);
  });

  const once: [string, (inner: FileSystem) => Promise<unknown>, (fs: SyncFileSystem) => unknown][] = [
    ['a file beside one that it read', (t) => t.readText('/d/a'), (fs) => fs.writeFileSync('/d/new', '')],
    ['a file in a directory of which it read the names', (t) => t.readdir('/d'), (fs) => fs.appendFileSync('/d/a', '')],
    ['a file beneath a directory that it moved', (t) => t.rename('/d', '/m'), (fs) => fs.writeFileSync('/d/e/b', '2')],
    ['a directory beneath one that it removed', (t) => t.rm('/d', { recursive: true }), (fs) => fs.mkdirSync('/d/n')],
    ['a rollback to the same', (t) => t.readText('/d/a'), (fs) => fs.rollbackSync('before')],
  ];
  it.each(once)('runs once beside %s', async (_, inside, outside) => {
    const fs = memory();
    fs.checkpointSync('before');
    expect(await beside(fs, inside, () => outside(fs))).toBe(1);
  });

  const done: [string, (inner: FileSystem) => Promise<unknown>][] = [
    ['files, links and directories that are made', (t) => make(t)],
    ['what is copied, and changed then', (t) => copyAndChange(t)],
    ['entries that are set as they are', (t) => t.run(setMany, [[{ path: '/d/set', content: 'x', modifiedAt: 5 }]])],
    ['the metadata of the root, a directory and a file', (t) => metadata(t)],
    ['a file that was opened by a name that is gone', (t) => throughOtherName(t)],
  ];
  it.each(done)('is applied to the state at its end: %s', async (_, inside) => {
    const fs = memory();
    fs.writeFileSync('/d/linked', 'x');
    fs.linkSync('/d/linked', '/link');
    const alone = fs.forkSync();
    await inside(alone);
    alone.writeFileSync('/done', '1');
    alone.writeFileSync('/other', 'theirs');
    expect(await beside(fs, inside, () => fs.writeFileSync('/other', 'theirs'))).toBe(1);
    const [mine, theirs] = [fs, alone].map((each) => [each.statSync('/').mtimeMs, ...each.walkSync('/')]);
    expect(mine).toEqual(theirs);
    expect(fs.toJSON()).toEqual(alone.toJSON());
    expect(fs.statsSync()).toEqual(alone.statsSync());
  });

  it('that clears everything also clears what others wrote until its end', async () => {
    const fs = memory();
    expect(
      await beside(
        fs,
        (t) => t.run(clear, []),
        () => fs.writeFileSync('/d/late', ''),
      ),
    ).toBe(1);
    expect(fs.toJSON()).toEqual({ '/done': '1' });
  });

  it('that moves a directory moves entries that others added concurrently', async () => {
    const fs = memory();
    await beside(
      fs,
      (t) => t.rename('/d', '/m'),
      () => fs.writeFileSync('/d/e/late', 'late'),
    );
    expect([fs.readTextSync('/m/e/late'), fs.existsSync('/d')]).toEqual(['late', false]);
  });

  it('does not move entries that others made too deep for the target: it runs again and gets the error', async () => {
    const fs = memory();
    const deep = '/x'.repeat(600);
    fs.mkdirSync(deep, { recursive: true });
    let runs = 0;
    const work = fs.transaction(async (inner) => {
      runs += 1;
      await inner.rename('/d', `${deep}/d`);
      if (runs === 1) fs.mkdirSync(`/d${'/y'.repeat(500)}`, { recursive: true });
    });
    await expect(work).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
    expect([runs, fs.existsSync('/d/a')]).toEqual([2, true]);
  });

  it('obeys the limits of the state at its end: if others used up the room it runs again and fails', async () => {
    const storage = new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0);
    const fs = openFileSystem(storage, { limits: { maxTotalSize: 100 } });
    let runs = 0;
    const work = fs.transaction(async (inner) => {
      runs += 1;
      await inner.writeFile('/mine', new Uint8Array(60));
      if (runs === 1) fs.writeFileSync('/theirs', new Uint8Array(60));
    });
    await expect(work).rejects.toMatchObject({ code: 'ENOSPC', limit: 'maxTotalSize' });
    expect([runs, fs.statsSync().totalSize, fs.existsSync('/mine')]).toEqual([2, 60, false]);
  });

  it('is published to watchers and open files, with concurrent changes', async () => {
    const fs = memory();
    const file = fs.openSync('/d/a', 'r+');
    const watcher = fs.watch('/', { recursive: true });
    const first = watcher.next();
    await beside(
      fs,
      (t) => t.rename('/d', '/m'),
      () => fs.writeFileSync('/d/a', 'theirs'),
    );
    file.writeFileSync('mine');
    expect(fs.readTextSync('/m/a')).toBe('miners');
    const seen = [(await first).value.path, (await watcher.next()).value.path];
    expect(seen).toEqual(['/d/a', '/m']);
    await watcher.return?.();
    file.closeSync();
  });

  it('undoes what a view function did before it threw', async () => {
    const fs = memory();
    const broken = (view: Parameters<Parameters<typeof fs.runSync>[0]>[0]): void => {
      view.remove(view.tree.rootLocation, 'other');
      throw new Error('half way');
    };
    const inside = (t: FileSystem) => expect(t.run(broken, [])).rejects.toThrow('half way');
    expect(await beside(fs, inside, () => fs.writeFileSync('/d/a', '2'))).toBe(1);
    expect(fs.existsSync('/other')).toBe(true);
  });

  it('over an overlay has conflicts only over changes in the overlay, not over what both only read', async () => {
    const over = overlay(readonly(memory()));
    const inside = async (t: FileSystem): Promise<void> => {
      await t.writeFile('/d/a', `${await t.readText('/d/a')}!`);
    };
    expect(await beside(over, inside, () => over.readTextSync('/d/a'))).toBe(1);
    expect(await beside(over, inside, () => over.writeFileSync('/other', 'x'))).toBe(1);
    expect(await beside(over, inside, () => over.writeFileSync('/d/a', 'x'))).toBe(2);
    expect(over.readTextSync('/d/a')).toBe('x!');
  });

  it.each([
    ['that has listed a directory detects removed entries only', true, 1],
    ['that has not listed it runs again for any change under it', false, 2],
  ])('over an overlay %s', async (_, isListed, runs) => {
    const over = overlay(readonly(memory()));
    over.rmSync('/other');
    if (isListed) over.readdirSync('/');
    const inside = async (t: FileSystem): Promise<void> => {
      await t.exists('/other');
      await t.readdir('/');
    };
    const outside = (): void => {
      over.readdirSync('/');
      over.writeFileSync('/d/a', '');
    };
    expect(await beside(over, inside, outside)).toBe(runs);
  });

  it('over an overlay distinguishes entries that were loaded concurrently from changed ones', async () => {
    const over = overlay(readonly(memory()));
    over.existsSync('/d');
    const inside = async (t: FileSystem): Promise<void> => {
      await t.writeFile('/d/a', `${await t.readText('/d/a')}!`);
    };
    const read = (): void => {
      over.readTextSync('/d/a');
      over.writeFileSync('/other', 'x');
    };
    expect(await beside(over, inside, read)).toBe(1);
  });

  it('over an overlay runs again if a rollback restored entries of the lower layer', async () => {
    const over = overlay(readonly(memory()));
    const before = over.checkpointSync();
    over.writeFileSync('/d/a', 'new');
    const inside = async (t: FileSystem): Promise<void> => {
      await t.writeFile('/seen', await t.readText('/d/a'));
    };
    expect(await beside(over, inside, () => over.rollbackSync(before))).toBe(2);
    expect(over.readTextSync('/seen')).toBe('a');
  });

  it('over an overlay on a remote storage loads what it needs to commit concurrently', async () => {
    const lower = await openFileSystem(asyncStorage(sampleBackend()), {
      files: {
        '/d/a': 'a',
        '/d/e/b': 'b',
        '/other': '',
        '/gone/with/all': 'x',
        '/big': 'x'.repeat(200_000),
        '/mode/file': '',
        '/new/a': '',
      },
    });
    const over = overlay(readonly(lower));
    const inside = async (t: FileSystem): Promise<void> => {
      await t.writeFile('/d/a', `${await t.readText('/d/a')}!`);
      await t.rename('/d/e', '/d/moved');
      await t.rm('/gone', { recursive: true });
      await t.appendFile('/big', '!');
      await t.chmod('/mode/file', 0o600);
      await t.symlink('target', '/new/link');
    };
    expect(await beside(over, inside, () => over.writeFile('/other', 'x'))).toBe(1);
    expect([await over.readText('/d/a'), await over.readText('/d/moved/b'), await over.readText('/other')]).toEqual([
      'a!',
      'b',
      'x',
    ]);
    expect([await over.exists('/gone'), await over.readlink('/new/link')]).toEqual([false, 'target']);
  });

  const unknown: [string, (inner: FileSystem) => Promise<unknown>, (fs: FileSystem) => Promise<unknown>][] = [
    [
      'the content of a file in a directory that it listed',
      (t) => t.entries('/d', { content: true }),
      (fs) => fs.writeFile('/d/a', 'new'),
    ],
    [
      'a new file beneath a directory that it walked',
      async (t) => {
        for await (const entry of t.walk('/')) entry.path;
      },
      (fs) => fs.writeFile('/d/e/new', 'new'),
    ],
    [
      'a name that it found, which is listed and removed beside it',
      (t) => t.writeFile('/d/a', 'mine'),
      async (fs) => {
        await fs.readdir('/d');
        await fs.rm('/d/a');
      },
    ],
    [
      'a name that it looked for, which is listed and removed beside it',
      (t) => t.exists('/d/a'),
      async (fs) => {
        await fs.readdir('/d');
        await fs.rm('/d/a');
      },
    ],
  ];
  it.each(unknown)('over an overlay that has loaded little runs again for %s', async (_, inside, outside) => {
    const over = overlay(readonly(memory()));
    await over.stat('/d');
    expect(await beside(over, inside, () => outside(over))).toBe(2);
  });

  it('counts open files without a name against the limit if it commits after concurrent changes', async () => {
    const storage = new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0);
    const fs = openFileSystem(storage, { limits: { maxTotalSize: 1000 } });
    fs.writeFileSync('/f', 'x'.repeat(600));
    const file = fs.openSync('/f', 'r+');
    let runs = 0;
    const work = fs.transaction(async (inner) => {
      await inner.writeFile('/g', 'y'.repeat(400));
      if (++runs > 1) return;
      fs.rmSync('/f');
      fs.writeFileSync('/h', 'z'.repeat(400));
    });
    await expect(work).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(fs.existsSync('/g')).toBe(false);
    file.closeSync();
  });

  it('that replaces more than it can hold commits if no other client wrote, and otherwise runs again', async () => {
    const fs = memory();
    const large = new Uint8Array(20 * 2 ** 20);
    const replace = async (inner: FileSystem): Promise<void> => {
      for (let i = 0; i < 8; i++) await inner.writeFile('/large', large);
    };
    expect(await beside(fs, replace, () => {})).toBe(1);
    expect(await beside(fs, replace, () => fs.writeFileSync('/other', 'x'))).toBe(2);
    expect([fs.statSync('/large').size, fs.readTextSync('/other')]).toEqual([large.length, 'x']);
  });

  it('keeps the times that others have set after its own changes', async () => {
    let now = 1;
    const storage = new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0);
    const fs = openFileSystem(storage, { clock: () => now });
    for (const path of ['/d/keep', '/moved', '/gone']) fs.mkdirSync(path, { recursive: true });
    fs.writeFileSync('/d/f', '');
    fs.linkSync('/d/f', '/gone/f');
    fs.writeFileSync('/gone/open', '');
    const file = fs.openSync('/gone/open', 'r+');
    await fs.transaction(async (inner) => {
      now = 5;
      await inner.writeFile('/d/mine', '');
      await inner.rename('/moved', '/here');
      await inner.rm('/gone', { recursive: true });
      await inner.mkdir('/d/keep/new');
      now = 7;
      for (const path of ['/d/theirs', '/moved/theirs']) fs.writeFileSync(path, '');
      fs.chmodSync('/d/f', 0o600);
      file.chmodSync(0o600);
      now = 6;
    });
    const times = (path: string) => [fs.statSync(path).mtimeMs, fs.statSync(path).ctimeMs];
    expect(['/d', '/here', '/d/f', '/d/keep', '/d/mine'].map(times)).toEqual([
      [7, 7],
      [7, 7],
      [1, 7],
      [5, 5],
      [5, 5],
    ]);
    expect(file.statSync().ctimeMs).toBe(7);
    file.closeSync();
  });

  it.each([
    ['is gone', (lower: SyncFileSystem) => lower.rmSync('/d/e/b')],
    ['is gone with its directory', (lower: SyncFileSystem) => lower.rmSync('/d/e', { recursive: true })],
    [
      'is a directory',
      (lower: SyncFileSystem) => {
        lower.rmSync('/d/e/b');
        lower.mkdirSync('/d/e/b');
      },
    ],
  ])(
    'over an overlay that cannot fork what is beneath runs again where what it changed %s there',
    async (_, change) => {
      const lower = memory();
      const over = overlay(withoutForks(lower));
      over.statSync('/d/e');
      let runs = 0;
      await over.transaction(async (inner) => {
        if (++runs === 1) await inner.truncate('/d/e/b');
        else await inner.writeFile('/instead', '');
        if (runs > 1) return;
        change(lower);
        over.writeFileSync('/other', 'x');
      });
      expect([runs, over.existsSync('/instead'), over.readTextSync('/other')]).toEqual([2, true, 'x']);
    },
  );

  it('over an overlay fails with the error of the lower layer at its end, and keeps no change', async () => {
    let isBroken = false;
    const lower = withoutForks(memory(), (method) => {
      if (isBroken && method === 'lstatSync') throw new StorageError('unavailable', 'The disk is gone');
    });
    const over = overlay(lower);
    over.statSync('/d/e');
    const work = over.transaction(async (inner) => {
      await inner.mkdir('/d/first');
      await inner.truncate('/d/e/b');
      over.writeFileSync('/other', 'x');
      isBroken = true;
    });
    await expect(work).rejects.toMatchObject({ name: 'StorageError', kind: 'unavailable' });
    isBroken = false;
    expect([over.existsSync('/d/first'), over.readTextSync('/d/e/b')]).toEqual([false, 'b']);
  });

  it('counts released bytes once: contents are not compacted too early', async () => {
    const executor = MemoryExecutor.create(rootMeta(0));
    const fs = openFileSystem(new ExecutorSyncStorage(executor, () => 0));
    const piece = new Uint8Array(4096);
    for (let i = 0; i < 6000; i++) fs.writeFileSync(`/${i}`, piece);
    const { contents } = executor.tree.shared;
    const before = contents.slabBytes;
    await fs.transaction(async (inner) => {
      for (let i = 0; i < 1600; i++) await inner.rm(`/${i}`);
      fs.writeFileSync('/other', 'x');
    });
    expect(contents.slabBytes).toBe(before);
  });
});

describe('the content of an open file that loses its name in a transaction', () => {
  function limited(): { fs: SyncFileSystem; used: () => number } {
    const executor = MemoryExecutor.create(rootMeta(0));
    const fs = openFileSystem(new ExecutorSyncStorage(executor, () => 0), { limits: { maxTotalSize: 100 } });
    fs.writeFileSync('/open', new Uint8Array(60));
    return { fs, used: () => fs.statsSync().totalSize + executor.feed.files.detached.size };
  }
  const tooMuch = new Uint8Array(60);

  it('counts against the limit inside it, in the synchronous form too', async () => {
    const { fs, used } = limited();
    const file = fs.openSync('/open', 'r');
    const replace = async (inner: FileSystem): Promise<void> => {
      await inner.rm('/open');
      await inner.writeFile('/new', tooMuch);
    };
    await expect(fs.transaction(replace)).rejects.toMatchObject({ code: 'ENOSPC', used: 60, requested: 120 });
    const replaceSync = (inner: SyncFileSystem): void => {
      inner.rmSync('/open');
      inner.writeFileSync('/new', tooMuch);
    };
    expect(() => fs.transactionSync(replaceSync)).toThrow(/ENOSPC/);
    expect([fs.readdirSync('/'), used()]).toEqual([['open'], 60]);
    file.closeSync();
    fs.transactionSync(replaceSync);
    expect([fs.readdirSync('/'), used()]).toEqual([['new'], 60]);
  });

  it.each([
    ['no other client wrote', () => {}],
    ['another client wrote', (fs: SyncFileSystem) => fs.writeFileSync('/other', '')],
  ])('counts even if it was opened after the transaction began, and %s', async (_, outside) => {
    const { fs, used } = limited();
    let runs = 0;
    const work = fs.transaction(async (inner) => {
      runs += 1;
      await inner.rm('/open');
      await inner.writeFile('/new', tooMuch);
      fs.openSync('/open', 'r');
      outside(fs);
    });
    await expect(work).rejects.toMatchObject({ code: 'ENOSPC' });
    expect([runs, fs.existsSync('/open'), used()]).toEqual([2, true, 60]);
  });

  it('counts if others let it grow after it lost its name', async () => {
    const { fs, used } = limited();
    const file = fs.openSync('/open', 'r+');
    fs.rmSync('/open');
    let runs = 0;
    const work = fs.transaction(async (inner) => {
      runs += 1;
      await inner.writeFile('/new', new Uint8Array(40));
      file.writeSync('more', 60);
    });
    await expect(work).rejects.toMatchObject({ code: 'ENOSPC' });
    expect([runs, used()]).toEqual([2, 64]);
  });

  it('counts in a copy that replaces another file', () => {
    const { fs, used } = limited();
    fs.writeFileSync('/from', new Uint8Array(40));
    fs.rmSync('/open');
    fs.writeFileSync('/to', new Uint8Array(50));
    const file = fs.openSync('/to', 'r');
    expect(() => fs.cpSync('/from', '/to')).toThrow(/ENOSPC/);
    expect(used()).toBe(90);
    file.closeSync();
    fs.cpSync('/from', '/to');
    expect(used()).toBe(80);
  });

  it('counts in later steps of the same operation', () => {
    const { fs, used } = limited();
    fs.rmSync('/open');
    for (const path of ['/from', '/to']) {
      fs.mkdirSync(path);
      for (const name of ['a', 'b']) fs.writeFileSync(`${path}/${name}`, new Uint8Array(20));
    }
    const files = ['/to/a', '/to/b'].map((path) => fs.openSync(path, 'r'));
    expect(() => fs.cpSync('/from', '/to', { recursive: true })).toThrow(/ENOSPC/);
    expect(used()).toBeLessThanOrEqual(100);
    for (const file of files) file.closeSync();
    fs.cpSync('/from', '/to', { recursive: true });
    expect(used()).toBe(80);
  });

  it('may be written any number of times under a directory that a transaction removes', async () => {
    const { fs, used } = limited();
    fs.mkdirSync('/logs');
    const log = fs.openSync('/logs/log', 'a');
    let runs = 0;
    await fs.transaction(async (inner) => {
      runs += 1;
      await inner.rm('/logs', { recursive: true });
      log.writeSync('line');
    });
    log.writeSync('line');
    expect([runs, log.statSync().size, used()]).toEqual([1, 8, 68]);
  });

  const others: readonly (readonly [string, (fs: SyncFileSystem) => void])[] = [
    ['no other client wrote', () => {}],
    ['another client wrote', (fs) => fs.writeFileSync('/other', '')],
  ];
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

  it.each(others)('includes what the transaction wrote into it, if %s', async (_, outside) => {
    const fs = sample({ '/log': 'a', '/f': 'f', '/new': 'n' });
    const [log, file] = ['/log', '/f'].map((path) => fs.openSync(path, 'r')) as [SyncFileHandle, SyncFileHandle];
    let late: SyncFileHandle | undefined;
    await fs.transaction(async (inner) => {
      const writer = await inner.open('/log', 'a');
      await writer.write('b');
      await inner.rename('/log', '/log.1');
      await inner.unlink('/log.1');
      await writer.write('c');
      await writer.close();
      const replaced = await inner.open('/f', 'r+');
      await inner.rename('/new', '/f');
      await replaced.chmod(0o600);
      late = fs.openSync('/log', 'r');
      outside(fs);
    });
    expect([text(log.readFileSync()), text(late?.readFileSync() ?? new Uint8Array())]).toEqual(['abc', 'abc']);
    expect([text(file.readFileSync()), file.statSync().mode & 0o777]).toEqual(['f', 0o600]);
  });

  it('includes what a synchronous transaction wrote into it', () => {
    const fs = sample({ '/f': 'old' });
    const file = fs.openSync('/f', 'r+');
    fs.transactionSync((inner) => {
      const writer = inner.openSync('/f', 'r+');
      inner.unlinkSync('/f');
      writer.writeSync('NEW', 0);
      writer.closeSync();
    });
    expect(text(file.readFileSync())).toBe('NEW');
    file.writeSync('!', 3);
    expect(file.statSync().size).toBe(4);
  });

  it.each(others)('counts with what was written into it if it was opened late, and %s', async (_, outside) => {
    const { fs, used } = limited();
    fs.truncateSync('/open', 10);
    let runs = 0;
    const work = fs.transaction(async (inner) => {
      runs += 1;
      const writer = await inner.open('/open', 'r+');
      await inner.rm('/open');
      await writer.write(new Uint8Array(50));
      await writer.close();
      await inner.writeFile('/new', tooMuch);
      if (runs > 1) return;
      fs.openSync('/open', 'r');
      outside(fs);
    });
    await expect(work).rejects.toMatchObject({ code: 'ENOSPC' });
    expect([runs, fs.existsSync('/open'), used()]).toEqual([2, true, 10]);
  });

  it('works on a remote storage', async () => {
    const fs = await openFileSystem(asyncStorage(sampleBackend()), { limits: { maxTotalSize: 100 } });
    await fs.writeFile('/open', new Uint8Array(60));
    const file = await fs.open('/open', 'r');
    const replace = async (inner: FileSystem): Promise<void> => {
      await inner.rm('/open');
      await inner.writeFile('/new', tooMuch);
    };
    await expect(fs.transaction(replace)).rejects.toMatchObject({ code: 'ENOSPC', limit: 'maxTotalSize' });
    expect(await fs.readdir('/')).toEqual(['open']);
    await file.close();
    await fs.transaction(replace);
    expect(await fs.readdir('/')).toEqual(['new']);
  });
});
