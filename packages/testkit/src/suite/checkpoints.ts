import { type Checkpoint, type FileSystem, isFsError } from '@scratchfs/core';
import { restore, withRollback } from '@scratchfs/core/checkpoints';
import { differences, dump } from '../dump.js';
import { equal, rejects } from './assert.js';
import { type Add, type Context, plant } from './context.js';

async function same(a: Awaited<ReturnType<typeof dump>>, fs: FileSystem, what: string): Promise<void> {
  equal(differences(a, await dump(fs)), [], what);
}

/** Expects that changes of different kinds are refused with EROFS, and a checkpoint with EROFS or ENOTSUP. */
async function changesNothing(fs: FileSystem, fails: Context['fails']): Promise<void> {
  const refused: readonly (() => Promise<unknown>)[] = [
    () => fs.writeFile('/a/f', 'new'),
    () => fs.writeFile('/new', 'new'),
    () => fs.mkdir('/new'),
    () => fs.rm('/a', { recursive: true }),
    () => fs.rename('/a', '/b'),
    () => fs.chmod('/a', 0o700),
    () => fs.open('/a/f', 'r+'),
    () => fs.access('/a/f', 2),
    () => fs.transaction((tx) => tx.writeFile('/a/f', 'new')),
  ];
  for (const change of refused) await fails(change, 'EROFS');
  await fails(() => fs.checkpoint(), 'EROFS', 'ENOTSUP');
}

/** Reports whether single paths can be restored: only in filesystems of this library, and layers over them. */
async function restoresPaths(fs: FileSystem): Promise<boolean> {
  if (!fs.capabilities.rollback) return false;
  const error: unknown = await restore(fs, 'never', '/never').catch((reason: unknown) => reason);
  return !isFsError(error, 'ENOTSUP');
}

export function checkpointCases(add: Add): void {
  const whereAble = (name: string, run: Parameters<Add>[1], options?: Parameters<Add>[2]): void =>
    add(
      name,
      async (context) => {
        if (context.fs.capabilities.checkpoints) await run(context);
      },
      options,
    );

  whereAble('rollback restores the exact state, again and again', async ({ fs, clock }) => {
    await plant(fs, {
      '/a/f': 'x',
      '/a/g': 'y',
      '/l': { to: 'a/f' },
      '/empty': null,
      '/big': new Uint8Array(150_000).fill(3),
    });
    await fs.link('/a/f', '/hard');
    await fs.chmod('/a', 0o700);
    await fs.utimes('/a/g', 1, 2);
    const before = await dump(fs);
    const checkpoint = await fs.checkpoint('before');
    for (let round = 0; round < 3; round++) {
      clock.advance(100);
      await fs.writeFile('/a/f', `changed ${round}`);
      await fs.appendFile('/big', 'more');
      await fs.rm('/empty', { recursive: true });
      await fs.rename('/a', '/b');
      await fs.unlink('/hard');
      await fs.writeFile('/new', 'new');
      await fs.rollback(round === 1 ? 'before' : checkpoint);
      await same(before, fs, `round ${round}`);
    }
    await fs.appendFile('/hard', '!');
    equal(await fs.readText('/a/f'), 'x!', 'hard links are still one file');
  });

  whereAble('a checkpoint is a place: a read-only filesystem of its state', async ({ fs, clock, fails }) => {
    await plant(fs, { '/a/f': 'x', '/a/g': 'y', '/l': { to: 'a/f' }, '/big': new Uint8Array(150_000).fill(3) });
    await fs.link('/a/f', '/hard');
    const before = await dump(fs);
    const checkpoint = await fs.checkpoint('before');
    clock.advance(100);
    await fs.writeFile('/a/f', 'changed');
    await fs.appendFile('/big', 'more');
    await fs.rename('/a', '/b');
    await fs.unlink('/l');
    const after = await dump(fs);
    const then = await fs.at(checkpoint);
    await same(before, then, 'the state of the checkpoint');
    equal([then.capabilities.writes, then.capabilities.checkpoints], [false, false]);
    equal([await then.readText('/l'), await then.readdir('/a'), await then.exists('/b')], ['x', ['f', 'g'], false]);
    equal(await then.transaction(async (tx) => tx.readText('/hard')), 'x');
    const handle = await then.open('/a/g');
    equal(new TextDecoder().decode(await handle.readFile()), 'y');
    await handle.close();
    await same(before, await then.fork(), 'a fork of a checkpoint');
    await changesNothing(then, fails);
    await same(before, then, 'the state after refused changes');
    await same(after, fs, 'the current state');
    await same(before, await fs.at('before'), 'the state by the name');
    await fs.rollback(checkpoint);
    await same(before, fs, 'the state after rollback');
    await then.close();
    await fails(() => then.readText('/l'), 'EBADF');
  });

  whereAble('a checkpoint that was dropped is no place any more', async ({ fs, fails }) => {
    await plant(fs, { '/a/f': 'x' });
    const checkpoint = await fs.checkpoint();
    const then = await fs.at(checkpoint);
    await fs.drop(checkpoint);
    await fails(() => then.readText('/a/f'), 'ENOENT');
    await fails(() => fs.at(checkpoint), 'ENOENT');
    await fails(() => fs.at('never'), 'ENOENT');
    await fails(() => fs.at(5 as never), 'TypeError');
  });

  whereAble('a fork from a checkpoint starts with its state, and outlives it', async ({ fs, fails }) => {
    if (!fs.capabilities.forks) return;
    await plant(fs, { '/a/f': 'x', '/big': new Uint8Array(150_000).fill(3) });
    const before = await dump(fs);
    const checkpoint = await fs.checkpoint();
    await fs.writeFile('/a/f', 'changed');
    await fs.appendFile('/big', 'more');
    const after = await dump(fs);
    const fork = await fs.fork({ from: checkpoint });
    await fs.drop(checkpoint);
    await same(before, fork, 'the state of the fork');
    equal([await fork.checkpoints(), fork.capabilities.writes], [[], true]);
    await fork.appendFile('/a/f', '!');
    const own = await fork.checkpoint('own');
    await fork.rm('/a', { recursive: true });
    equal(await (await fork.at(own)).readText('/a/f'), 'x!');
    await same(after, fs, 'the state that was forked');
    await fork.close();
    await fails(() => fs.fork({ from: checkpoint }), 'ENOENT');
  });

  const restoring = (name: string, run: Parameters<Add>[1], options?: Parameters<Add>[2]): void =>
    whereAble(name, async (context) => ((await restoresPaths(context.fs)) ? run(context) : undefined), {
      ...options,
      promiseOnly: true,
    });

  restoring('restore brings back one path, of any kind, and nothing else', async ({ fs, clock }) => {
    await plant(fs, { '/a/f': 'x', '/a/sub/g': 'y', '/a/l': { to: 'f' }, '/b/h': 'z', '/gone': 'w' });
    await fs.chmod('/a/f', 0o600);
    await fs.utimes('/a/sub/g', 1, 2);
    const before = await dump(fs);
    const checkpoint = await fs.checkpoint('before');
    clock.advance(100);
    await fs.writeFile('/a/f', 'changed');
    await fs.chmod('/a/f', 0o644);
    await fs.rm('/a/sub', { recursive: true });
    await fs.unlink('/a/l');
    await fs.mkdir('/a/l');
    await fs.writeFile('/a/l/new', 'new');
    await fs.writeFile('/a/new', 'new');
    await fs.writeFile('/b/h', 'kept');
    await fs.unlink('/gone');
    equal(await restore(fs, checkpoint, '/a/f'), { added: [], removed: [], changed: ['/a/f'] });
    equal([await fs.readText('/a/f'), (await fs.stat('/a/f')).mode & 0o777], ['x', 0o600]);
    equal(await restore(fs, checkpoint, '/a/f'), { added: [], removed: [], changed: [] });
    equal(await restore(fs, 'before', '/a/new'), { added: [], removed: ['/a/new'], changed: [] });
    equal(await restore(fs, checkpoint, '/a'), {
      added: ['/a/l', '/a/sub', '/a/sub/g'],
      removed: ['/a/l'],
      changed: [],
    });
    equal(await restore(fs, checkpoint, 'gone'), { added: ['/gone'], removed: [], changed: [] });
    equal(await fs.readText('/b/h'), 'kept', 'what is not restored');
    await restore(fs, checkpoint, '/b');
    const under = (state: Awaited<ReturnType<typeof dump>>) => state.entries.filter(({ path }) => path !== '/');
    equal(
      differences({ ...before, entries: under(before) }, { ...(await dump(fs)), entries: under(await dump(fs)) }),
      [],
      'the state after everything was restored',
    );
    equal((await fs.checkpoints()).length, 1);
  });

  restoring('restore creates missing parents as they were, and names what is in the way', async ({ fs, fails }) => {
    await plant(fs, { '/a/b/f': 'x', '/l': { to: 'a' } });
    await fs.chmod('/a/b', 0o700);
    const checkpoint = await fs.checkpoint();
    await fs.rm('/a', { recursive: true });
    equal((await restore(fs, checkpoint, '/l/b/f')).added, ['/a', '/a/b', '/a/b/f']);
    equal([await fs.readText('/a/b/f'), (await fs.stat('/a/b')).mode & 0o777], ['x', 0o700]);
    await fs.rm('/a/b', { recursive: true });
    await fs.writeFile('/a/b', 'in the way');
    await fails(() => restore(fs, checkpoint, '/a/b/f'), 'ENOTDIR');
    await fails(() => restore(fs, checkpoint, '/a/never'), 'ENOENT');
    await fails(() => restore(fs, checkpoint, '/never/f'), 'ENOENT');
    await fails(() => restore(fs, 'never', '/a/b'), 'ENOENT');
    await fails(() => restore(fs, checkpoint, '/'), 'EBUSY');
    await fails(() => restore(fs, checkpoint, 'a\0b'), 'ERR_INVALID_ARG_VALUE', 'EINVAL', 'TypeError');
    await restore(fs, checkpoint, '/a/b');
    equal(await fs.readText('/a/b/f'), 'x');
  });

  restoring(
    'restore obeys limits, and changes nothing beyond them',
    async ({ fs, fails }) => {
      await plant(fs, { '/a/f': '1234567890', '/a/g': 'x' });
      const checkpoint = await fs.checkpoint();
      await fs.rm('/a', { recursive: true });
      await fs.writeFile('/big', '123456789012345');
      const { limit } = await fails(() => restore(fs, checkpoint, '/a'), 'ENOSPC');
      equal(limit, 'maxTotalSize');
      equal((await restore(fs, checkpoint, '/a/g')).added, ['/a', '/a/g']);
    },
    { limits: { maxTotalSize: 20 } },
  );

  restoring('restore keeps handles open, and files with several names together', async ({ fs }) => {
    await plant(fs, { '/a/f': 'x', '/other': 'y' });
    await fs.link('/a/f', '/hard');
    const checkpoint = await fs.checkpoint();
    const handle = await fs.open('/a/f', 'r');
    await fs.writeFile('/a/f', 'changed');
    equal((await restore(fs, checkpoint, '/a')).changed, ['/a/f']);
    equal(new TextDecoder().decode(await handle.readFile()), 'x');
    equal(await fs.readText('/hard'), 'x');
    await handle.close();
    await fs.unlink('/a/f');
    await fs.writeFile('/hard', 'own');
    await restore(fs, checkpoint, '/a/f');
    equal([await fs.readText('/a/f'), await fs.readText('/hard')], ['x', 'own']);
  });

  restoring('restore brings back a symlink under all its names, as one node', async ({ fs }) => {
    await plant(fs, { '/d/a': { to: 'x' }, '/other': 'y' });
    await fs.link('/d/a', '/d/b');
    const checkpoint = await fs.checkpoint();
    const shown = async (): Promise<unknown> => {
      const [a, b] = [await fs.lstat('/d/a'), await fs.lstat('/d/b')];
      return [await fs.readlink('/d/a'), await fs.readlink('/d/b'), a.nlink, a.ino === b.ino];
    };
    for (const path of ['/d', '/d/b']) {
      await fs.unlink('/d/a');
      await fs.unlink('/d/b');
      await fs.symlink('new', '/d/a');
      await fs.link('/d/a', '/d/b');
      const { added, removed, changed } = await restore(fs, checkpoint, path);
      equal([added, removed, changed.length], [[], [], 1], path);
      equal(await shown(), ['x', 'x', 2, true], path);
    }
    await fs.unlink('/d/a');
    await fs.unlink('/d/b');
    equal((await restore(fs, checkpoint, '/d')).added, ['/d/a', '/d/b']);
    equal(await shown(), ['x', 'x', 2, true]);
    equal(await restore(fs, checkpoint, '/d'), { added: [], removed: [], changed: [] });
  });

  whereAble(
    'withRollback keeps work that its check accepts, and undoes the rest',
    async ({ fs }) => {
      if (!fs.capabilities.rollback) return;
      await plant(fs, { '/f': 'x' });
      const before = await dump(fs);
      equal(await withRollback(fs, () => 5), { committed: true, result: 5 });
      const work = async (): Promise<number> => {
        await fs.writeFile('/f', 'changed');
        await fs.writeFile('/new', 'new');
        return 7;
      };
      const undo = async (check: (result: number) => Promise<boolean | string>, reason: string): Promise<void> => {
        const attempt = await withRollback(fs, work, check);
        if (attempt.committed) throw new Error('the work was kept');
        equal(attempt.reason, reason);
        const { added, changed } = attempt.undone ?? { added: [{ path: '/new' }], changed: [{ path: '/f' }] };
        equal([added.map(({ path }) => path), changed.map(({ path }) => path)], [['/new'], ['/f']]);
        await same(before, fs, 'the state after the rollback');
      };
      await undo(async () => false, 'The check failed');
      await undo(async (result) => `bad ${result}`, 'bad 7');
      await undo(async () => Promise.reject(new Error('broken')), 'broken');
      const error = new Error('the work failed');
      const failed = await withRollback(fs, async () => {
        await fs.rm('/f');
        throw error;
      });
      equal([failed.committed, !failed.committed && failed.error === error], [false, true]);
      await same(before, fs, 'the state after the work failed');
      const kept = await withRollback(fs, work, async (result) => result === 7, { name: 'attempt' });
      equal([kept, await fs.readText('/f'), await fs.checkpoints()], [{ committed: true, result: 7 }, 'changed', []]);
    },
    { promiseOnly: true },
  );

  whereAble('checkpoints are a list, oldest first, each with what it held', async ({ fs, clock, fails }) => {
    equal(await fs.checkpoints(), []);
    const made: Checkpoint[] = [];
    const states: Awaited<ReturnType<typeof dump>>[] = [];
    for (const name of ['one', undefined, '__proto__']) {
      await fs.writeFile('/f', `state ${name}`);
      states.push(await dump(fs));
      made.push(await fs.checkpoint(name));
      clock.advance(10);
    }
    const listed = await fs.checkpoints();
    equal(
      listed.map((checkpoint) => checkpoint.id),
      made.map((checkpoint) => checkpoint.id),
    );
    equal(
      listed.map((checkpoint) => checkpoint.name),
      ['one', undefined, '__proto__'],
    );
    equal(
      listed.map((checkpoint) => checkpoint.createdAt),
      [clock.now - 30, clock.now - 20, clock.now - 10],
    );
    for (const i of [2, 0, 1]) {
      await fs.rollback(made[i] as Checkpoint);
      await same(states[i] as Awaited<ReturnType<typeof dump>>, fs, `checkpoint ${i}`);
    }
    await fails(() => fs.checkpoint('one'), 'EEXIST');
    await fails(() => fs.checkpoint(made[1]?.id), 'EEXIST');
    await fs.drop('one');
    equal((await fs.checkpoints()).length, 2);
    await fails(() => fs.rollback('one'), 'ENOENT');
    await fails(() => fs.drop('one'), 'ENOENT');
    await fails(() => fs.rollback(made[0] as Checkpoint), 'ENOENT');
    await fs.checkpoint('one');
    equal((await fs.checkpoints()).length, 3);
  });

  whereAble('a checkpoint is untouched by what comes after it, contents included', async ({ fs }) => {
    await fs.writeFile('/f', new Uint8Array(100_000).fill(1));
    await fs.checkpoint('ones');
    const handle = await fs.open('/f', 'r+');
    await handle.write(new Uint8Array(10).fill(2), 50_000);
    await fs.checkpoint('patched');
    await handle.write('end', 100_000);
    await handle.truncate(5);
    await handle.close();
    await fs.rollback('patched');
    const patched = await fs.readFile('/f');
    equal([patched.length, patched[49_999], patched[50_000], patched[50_009], patched[50_010]], [100_000, 1, 2, 2, 1]);
    await fs.rollback('ones');
    equal(
      (await fs.readFile('/f')).every((byte) => byte === 1),
      true,
    );
  });

  whereAble('appends between checkpoints come back as they were', async ({ fs }) => {
    await fs.writeFile('/log', '');
    let text = '';
    const texts: string[] = [];
    for (let i = 0; i < 30; i++) {
      texts.push(text);
      await fs.checkpoint(`c${i}`);
      await fs.appendFile('/log', `${i}`.repeat(400));
      text += `${i}`.repeat(400);
    }
    for (const i of [29, 0, 15, 16, 14]) {
      await fs.rollback(`c${i}`);
      equal(await fs.readText('/log'), texts[i]);
      await fs.appendFile('/log', 'branch');
      equal(await fs.readText('/log'), `${texts[i]}branch`);
    }
    await fs.rollback('c20');
    equal(await fs.readText('/log'), texts[20]);
  });

  whereAble('a rollback that would grow usage above a lowered limit is ENOSPC', async ({ fs, fails }) => {
    await plant(fs, { '/a': '12345', '/b': '67890' });
    const checkpoint = await fs.checkpoint('large');
    await fs.unlink('/b');
    try {
      await fs.setLimits({ maxTotalSize: 5 });
    } catch (error) {
      // A layer cannot change limits.
      if (isFsError(error, 'EPERM')) return;
      throw error;
    }
    const { syscall, limit, used, requested, allowed } = await fails(() => fs.rollback(checkpoint), 'ENOSPC');
    equal([syscall, limit, used, requested, allowed], ['rollback', 'maxTotalSize', 5, 10, 5]);
    await fs.setLimits({ maxNodeCount: 1 });
    equal((await fails(() => fs.rollback('large'), 'ENOSPC')).limit, 'maxNodeCount');
    await fs.setLimits({ maxNodeCount: 2 });
    await fs.writeFile('/c', '1234567890');
    await fs.setLimits({ maxTotalSize: 5, maxNodeCount: 0, maxFileSize: 1 });
    await fs.rollback(checkpoint);
    equal(await fs.readText('/b'), '67890');
  });

  whereAble('after a rollback open handles are EBADF, new ones work', async ({ fs }) => {
    await fs.writeFile('/f', 'x');
    const old = await fs.open('/f', 'r+');
    await fs.checkpoint('c');
    await old.write('y');
    await fs.rollback('c');
    await rejects(() => old.read(new Uint8Array(1)), 'EBADF');
    await rejects(() => old.write('z'), 'EBADF');
    await rejects(() => old.stat(), 'EBADF');
    await rejects(() => old.truncate(), 'EBADF');
    await old.close();
    const handle = await fs.open('/f', 'r+');
    await handle.write('z');
    await handle.close();
    equal(await fs.readText('/f'), 'z');
  });

  whereAble('a checkpoint that was copied, or written down as JSON, is the same one', async ({ fs }) => {
    await fs.writeFile('/a', 'kept');
    const checkpoint = await fs.checkpoint();
    await fs.writeFile('/a', 'changed');
    await fs.rollback(JSON.parse(JSON.stringify(checkpoint)));
    equal(await fs.readText('/a'), 'kept');
    await fs.drop({ ...checkpoint });
    equal(await fs.checkpoints(), []);
  });

  whereAble('a checkpoint of another filesystem is refused', async ({ fs, create, fails }) => {
    const other = await create();
    const foreign = await other.checkpoint();
    await fs.writeFile('/f', 'x');
    await fs.checkpoint();
    await fails(() => fs.rollback(foreign), 'ENOENT', 'EINVAL', 'TypeError');
    await fails(() => fs.rollback({ id: 'made up', createdAt: 0 }), 'ENOENT', 'EINVAL');
    await fails(() => fs.rollback(null as never), 'TypeError');
    await fails(() => fs.rollback(undefined as never), 'TypeError');
    await fails(() => fs.rollback({} as never), 'TypeError', 'ENOENT', 'EINVAL');
    await fails(() => fs.checkpoint(5 as never), 'TypeError');
  });

  whereAble(
    'maxCheckpoints refuses one more, and dropping makes room',
    async ({ fs, fails }) => {
      await fs.checkpoint('a');
      await fs.checkpoint('b');
      const error = await fails(() => fs.checkpoint('c'), 'ENOSPC');
      equal([error.limit, error.used, error.requested, error.allowed], ['maxCheckpoints', 2, 3, 2]);
      await fs.drop('a');
      await fs.checkpoint('c');
      equal(
        (await fs.checkpoints()).map((checkpoint) => checkpoint.name),
        ['b', 'c'],
      );
    },
    { limits: { maxCheckpoints: 2 } },
  );

  add("a fork has the same state, and neither sees the other's changes", async ({ fs, clock }) => {
    if (!fs.capabilities.forks) return;
    await plant(fs, { '/a/f': 'x', '/l': { to: 'a' }, '/big': new Uint8Array(100_000).fill(9) });
    await fs.link('/a/f', '/h');
    const before = await dump(fs);
    const fork = await fs.fork();
    await same(before, fork, 'the fork');
    clock.advance(5);
    await fork.writeFile('/a/f', 'fork');
    await fork.rm('/l');
    await fork.appendFile('/big', 'fork');
    await same(before, fs, 'the original after changes of the fork');
    const forked = await dump(fork);
    await fs.rename('/a', '/b');
    await fs.truncate('/big', 1);
    await same(forked, fork, 'the fork after changes of the original');
    equal(await fork.readText('/h'), 'fork');
    await fork.close();
    equal(await fs.readText('/h'), 'x');
  });

  add('a fork has none of the checkpoints, and can be forked', async ({ fs }) => {
    if (!fs.capabilities.forks) return;
    await fs.writeFile('/f', '1');
    await fs.checkpoint('c');
    const fork = await fs.fork();
    equal(await fork.checkpoints(), []);
    await fork.writeFile('/f', '2');
    const second = await fork.fork();
    await second.writeFile('/f', '3');
    equal([await fs.readText('/f'), await fork.readText('/f'), await second.readText('/f')], ['1', '2', '3']);
    await second.checkpoint('c');
    await fork.close();
    await second.rollback('c');
    equal(await second.readText('/f'), '3');
    await second.close();
  });
}
