import { type FileSystem, isFsError, type VersionOptions } from '@scratchfs/core';
import { equal } from './assert.js';
import { type Add, plant } from './context.js';

/** Cases of `Stats.version` and `ifVersion`. The clock stands still in all of them, so that times identify no state. */
export function versionCases(add: Add): void {
  add('every change of content or metadata changes the version, reading keeps it', async ({ fs }) => {
    await plant(fs, { '/f': 'one', '/d': null, '/l': { to: 'f' } });
    const handle = await fs.open('/f', 'r+');
    const seen = [await versionOf(fs, '/f')];
    const steps: (() => Promise<unknown>)[] = [
      () => fs.writeFile('/f', 'two'),
      () => fs.writeFile('/f', 'two'),
      () => fs.appendFile('/f', '!'),
      () => fs.editFile('/f', 'two', 'six'),
      () => fs.truncate('/f', 2),
      () => fs.chmod('/f', 0o600),
      () => fs.chown('/f', 1, 2),
      () => fs.utimes('/f', 5, 5),
      () => fs.link('/f', '/g'),
      () => handle.write('x', 0),
      () => fs.unlink('/g'),
    ];
    for (const step of steps) {
      await step();
      seen.push(await versionOf(fs, '/f'));
      await Promise.all([fs.readFile('/f'), fs.lstat('/l'), fs.readdir('/', { withFileTypes: true })]);
      equal(await versionOf(fs, '/f'), seen.at(-1), 'reading keeps the version');
      equal((await handle.stat()).version, seen.at(-1));
    }
    await handle.close();
    await fs.rename('/f', '/d/f');
    seen.push(await versionOf(fs, '/d/f'));
    equal(new Set(seen).size, steps.length + 2);
    await fs.rename('/d', '/e');
    equal(await versionOf(fs, '/e/f'), seen.at(-1), 'the rename of a directory above keeps it');
    for (const version of seen) equal([typeof version, version === ''], ['string', false]);
  });

  add('all names of a file have one version, and a link has its own', async ({ fs }) => {
    await plant(fs, { '/f': 'x', '/l': { to: 'f' } });
    await fs.link('/f', '/g');
    equal(await versionOf(fs, '/f'), await versionOf(fs, '/g'));
    equal(await versionOf(fs, '/f'), await versionOf(fs, '/l'), 'stat follows a link');
    const link = (await fs.lstat('/l')).version;
    await fs.writeFile('/g', 'y');
    equal(await versionOf(fs, '/f'), await versionOf(fs, '/g'));
    equal((await fs.lstat('/l')).version, link);
    await fs.lutimes('/l', 7, 7);
    equal((await fs.lstat('/l')).version === link, false);
  });

  add('the version of a directory changes with its names and metadata, not with what is under them', async ({ fs }) => {
    await plant(fs, { '/d/sub/f': 'x', '/d/g': 'y' });
    const seen = [await versionOf(fs, '/d')];
    await fs.writeFile('/d/g', 'z');
    await fs.writeFile('/d/sub/new', '');
    equal(await versionOf(fs, '/d'), seen[0]);
    const steps: (() => Promise<unknown>)[] = [
      () => fs.writeFile('/d/new', ''),
      () => fs.rename('/d/new', '/d/other'),
      () => fs.rm('/d/other'),
      () => fs.rm('/d/sub', { recursive: true }),
      () => fs.link('/d/g', '/d/h'),
      () => fs.chmod('/d', 0o700),
      () => fs.utimes('/d', 5, 5),
    ];
    for (const step of steps) {
      await step();
      seen.push(await versionOf(fs, '/d'));
    }
    await fs.rename('/d', '/e');
    seen.push(await versionOf(fs, '/e'));
    equal(new Set(seen).size, steps.length + 2);
  });

  add('a path that is created anew gets a new version', async ({ fs }) => {
    const seen: string[] = [];
    for (let round = 0; round < 3; round++) {
      await plant(fs, { '/f': 'same', '/d': null });
      seen.push(await versionOf(fs, '/f'), await versionOf(fs, '/d'));
      await fs.rm('/f');
      await fs.rmdir('/d');
    }
    equal(new Set(seen).size, 6);
  });

  add('rollback restores the version with the state, and no later state gets an earlier version', async ({ fs }) => {
    if (!fs.capabilities.checkpoints) return;
    await fs.writeFile('/f', 'one');
    const kept = await versionOf(fs, '/f');
    const checkpoint = await fs.checkpoint();
    const seen = [kept];
    for (const text of ['two', 'six', 'ten']) {
      await fs.writeFile('/f', text);
      seen.push(await versionOf(fs, '/f'));
      await fs.rollback(checkpoint);
      equal(await versionOf(fs, '/f'), kept);
    }
    equal(new Set(seen).size, 4);
  });

  add('ifVersion lets a call through in that version only; with another one nothing changes', async ({ fs, fails }) => {
    await plant(fs, { '/f': 'one two', '/l': { to: 'f' } });
    const stale = await versionOf(fs, '/f');
    await fs.writeFile('/f', 'one six');
    const calls: ((given: VersionOptions) => Promise<unknown>)[] = [
      (given) => fs.writeFile('/l', 'one ten', given),
      (given) => fs.writeLines('/f', ['one'], given),
      (given) => fs.writeFile('/f', 'two', { flag: 'r+', ...given }),
      (given) => fs.appendFile('/f', 'one', given),
      (given) => fs.writeFile('/f', 'one', { flag: 'a', ...given }),
      (given) => fs.editFile('/f', 'one', 'two', { all: true, ...given }),
      (given) => fs.rename('/f', '/g', given),
      (given) => fs.rm('/g', given),
    ];
    for (const [i, call] of calls.entries()) {
      const path = i < calls.length - 1 ? '/f' : '/g';
      const version = await versionOf(fs, path);
      const { expected, actual } = await fails(() => call({ ifVersion: stale }), 'ECHANGED');
      equal([expected, actual], [stale, version]);
      await call({ ifVersion: version });
    }
    equal(await fs.readdir('/'), ['l']);
  });

  add('ifVersion needs an entry, and must be a version', async ({ fs, fails }) => {
    await plant(fs, { '/f': 'x', '/d': null });
    const ifVersion = await versionOf(fs, '/f');
    await fails(() => fs.writeFile('/new', 'x', { ifVersion }), 'ENOENT');
    await fails(() => fs.appendFile('/new', 'x', { ifVersion }), 'ENOENT');
    await fails(() => fs.editFile('/new', 'x', 'y', { ifVersion }), 'ENOENT');
    await fails(() => fs.rename('/new', '/x', { ifVersion }), 'ENOENT');
    await fails(() => fs.rm('/new', { ifVersion }), 'ENOENT');
    await fs.rm('/new', { ifVersion, force: true });
    await fails(() => fs.writeFile('/d', 'x', { ifVersion }), 'EISDIR');
    await fails(() => fs.writeFile('/f', 'x', { ifVersion, flag: 'wx' }), 'EEXIST');
    await fs.appendFile('/f', '', { ifVersion });
    await fails(() => fs.appendFile('/f', '', { ifVersion: `${ifVersion}0` }), 'ECHANGED');
    for (const wrong of [null, '', 5, {}] as never[]) {
      await fails(() => fs.writeFile('/f', 'x', { ifVersion: wrong }), 'TypeError');
      await fails(() => fs.appendFile('/f', 'x', { ifVersion: wrong }), 'TypeError');
      await fails(() => fs.editFile('/f', 'x', 'y', { ifVersion: wrong }), 'TypeError');
      await fails(() => fs.rename('/f', '/x', { ifVersion: wrong }), 'TypeError');
      await fails(() => fs.rm('/f', { ifVersion: wrong }), 'TypeError');
    }
    await fails(() => fs.rename('/f', '/x', { version: ifVersion } as never), 'TypeError');
    await fails(() => fs.mkdir('/x', { ifVersion } as never), 'TypeError');
  });

  add('ifVersion of a directory protects its names and metadata', async ({ fs, fails }) => {
    await plant(fs, { '/d/f': 'x' });
    const stale = await versionOf(fs, '/d');
    await fs.writeFile('/d/g', 'y');
    await fails(() => fs.rm('/d', { recursive: true, ifVersion: stale }), 'ECHANGED');
    await fails(() => fs.rename('/d', '/e', { ifVersion: stale }), 'ECHANGED');
    const { version } = await fs.lstat('/d');
    await fs.writeFile('/d/g', 'z');
    await fs.rename('/d', '/e', { ifVersion: version });
    await fs.rm('/e', { recursive: true, ifVersion: await versionOf(fs, '/e') });
    equal(await fs.readdir('/'), []);
  });

  add('of several writers that saw one version only one gets through', async ({ fs }) => {
    await fs.writeFile('/f', 'start');
    for (let round = 0; round < 3; round++) {
      const ifVersion = await versionOf(fs, '/f');
      const writers = [
        () => fs.writeFile('/f', 'one', { ifVersion }),
        () => fs.appendFile('/f', 'two', { ifVersion }),
        () => fs.editFile('/f', 't', 'T', { ifVersion, all: true }),
        () => fs.rm('/f', { ifVersion }),
      ].slice(0, round < 2 ? 3 : 4);
      const outcomes = await Promise.allSettled(writers.map((write) => write()));
      const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
      equal(refused.length, writers.length - 1, 'writers refused');
      for (const error of refused)
        equal([isFsError(error, 'ECHANGED') || isFsError(error, 'ENOENT'), String(error)], [true, String(error)]);
      await fs.writeFile('/f', 'text');
    }
  });

  add('a transaction checks ifVersion against its own view, and counts the check as a read', async ({ fs }) => {
    if (!fs.capabilities.transactions) return;
    await plant(fs, { '/f': 'one', '/d': null });
    const ifVersion = await versionOf(fs, '/f');
    let runs = 0;
    const done = fs.transaction(async (inner) => {
      runs += 1;
      await inner.editFile('/f', 'one', 'two', { ifVersion });
      await inner.appendFile('/f', '!', { ifVersion: await versionOf(inner, '/f') });
      if (runs === 1) await fs.writeFile('/f', 'one more');
    });
    const error = await done.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    equal([isFsError(error, 'ECHANGED'), runs], [true, 2]);
    equal(await fs.readText('/f'), 'one more');
  });
}

async function versionOf(fs: FileSystem, path: string): Promise<string> {
  return (await fs.stat(path)).version;
}
