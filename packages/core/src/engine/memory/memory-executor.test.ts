import { describe, expect, it } from 'vitest';
import { asyncForm, backendOf } from '../../async-storage.js';
import { openFileSystem } from '../../create-file-system.js';
import { diff } from '../../diff.js';
import { StorageError } from '../../errors.js';
import { ExecutorSyncStorage } from '../../executor-storage.js';
import type { FileSystem, SyncFileSystem } from '../../file-system.js';
import { overlay, restrict } from '../../layers.js';
import { createSnapshotSync, restoreSnapshotSync } from '../../snapshot.js';
import { rootMeta } from '../defaults.js';
import { MemoryExecutor } from './memory-executor.js';

function memory(): { fs: SyncFileSystem; executor: MemoryExecutor } {
  const executor = MemoryExecutor.create(rootMeta(0));
  return { fs: openFileSystem(new ExecutorSyncStorage(executor, () => 0)), executor };
}

describe('a transaction in memory', () => {
  it('that loses every race is given up after 16 runs, and none of its changes are kept', async () => {
    const { fs } = memory();
    let runs = 0;
    const work = fs.transaction(async (inner) => {
      await inner.writeFile('/mine', `${++runs}`);
      await inner.exists('/other');
      await fs.writeFile('/other', `${runs}`);
    });
    await expect(work).rejects.toMatchObject({ name: 'StorageError', kind: 'conflict' });
    expect([runs, fs.readTextSync('/other'), fs.existsSync('/mine')]).toEqual([16, '16', false]);
  });

  it('loses at most once to writers of the same file, and never to others', async () => {
    const { fs } = memory();
    fs.writeFileSync('/counter', '0');
    let runs = 0;
    const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
    const apart = Array.from({ length: 30 }, (_, i) =>
      fs.transaction(async (inner) => {
        runs += 1;
        await inner.mkdir(`/d${i}`);
        await pause();
        await inner.writeFile(`/d${i}/f`, `${i}`);
      }),
    );
    await Promise.all(apart);
    expect([runs, fs.readdirSync('/').length]).toEqual([30, 31]);
    runs = 0;
    const increments = Array.from({ length: 20 }, () =>
      fs.transaction(async (inner) => {
        runs += 1;
        const count = Number(await inner.readText('/counter'));
        await pause();
        await inner.writeFile('/counter', String(count + 1));
      }),
    );
    await Promise.all(increments);
    expect([runs, fs.readTextSync('/counter')]).toEqual([39, '20']);
  });

  it('that waits for its turn is rejected when its signal is aborted, and does not delay the others', async () => {
    const { fs } = memory();
    const stop = new AbortController();
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const work = (name: string, signal?: AbortSignal): Promise<void> => {
      let runs = 0;
      return fs.transaction(
        async (inner) => {
          runs += 1;
          await inner.writeFile(`/${name}`, `${runs}`);
          await inner.exists(`/before-${name}`);
          if (runs === 1) fs.writeFileSync(`/before-${name}`, '');
          else if (name === 'slow') await gate;
        },
        signal === undefined ? {} : { signal },
      );
    };
    const slow = work('slow');
    const ended = work('ended', stop.signal);
    const last = work('last');
    setTimeout(() => stop.abort(), 1);
    await expect(ended).rejects.toMatchObject({ name: 'AbortError' });
    go();
    await Promise.all([slow, last]);
    expect([fs.readTextSync('/slow'), fs.readTextSync('/last'), fs.existsSync('/ended')]).toEqual(['2', '2', false]);
  });

  it('that lost a race may run another one inside without a deadlock', async () => {
    const { fs } = memory();
    let runs = 0;
    const outer = fs.transaction(async (inner) => {
      runs += 1;
      await inner.writeFile('/outer', `${runs}`);
      await inner.readdir('/');
      if (runs === 1) fs.writeFileSync('/first', '');
      if (runs !== 2) return;
      let nested = 0;
      await fs.transaction(async (other) => {
        nested += 1;
        await other.writeFile('/nested', `${nested}`);
        await other.exists('/second');
        if (nested === 1) fs.writeFileSync('/second', '');
      });
    });
    await outer;
    expect([runs, fs.readTextSync('/outer'), fs.readTextSync('/nested')]).toEqual([3, '3', '2']);
  });

  it('that only reads sees one state, however much is written concurrently, and runs once', async () => {
    const { fs } = memory();
    fs.writeFileSync('/a', 'old');
    let runs = 0;
    const seen = await fs.transaction(async (inner) => {
      runs += 1;
      const before = await inner.readText('/a');
      fs.writeFileSync('/a', 'new');
      return [before, await inner.readText('/a')];
    });
    expect([runs, seen, fs.readTextSync('/a')]).toEqual([1, ['old', 'old'], 'new']);
  });
});

describe('while a synchronous transaction runs', () => {
  function shared() {
    const storage = new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0);
    const fs = openFileSystem(storage, { files: { '/held': 'old', '/n': '0' } });
    return { storage, fs };
  }
  const { storage, fs } = shared();
  const second = openFileSystem(storage);
  const held = fs.openSync('/held', 'r+');
  const state = createSnapshotSync(fs);
  fs.writeFileSync('/since', 'then');
  const checkpoint = fs.checkpointSync();
  fs.writeFileSync('/later', 'now');

  it.each<[string, () => unknown]>([
    ['the filesystem itself', () => fs.writeFileSync('/outer', 'x')],
    ['an operation of a caller', () => fs.runSync((view) => view.replaceAll(rootMeta(0), () => {}), [])],
    ['another filesystem on the storage', () => second.mkdirSync('/outer')],
    ['a file opened outside', () => held.writeSync('new')],
    ['the storage', () => storage.set({ path: '/outer', kind: 'file', content: 'x' })],
    ['a rollback', () => fs.rollbackSync(checkpoint)],
    ['a restored snapshot', () => restoreSnapshotSync(fs, state)],
    ['a transaction within, by the outer object', () => fs.transactionSync(() => {})],
    ['reading the filesystem', () => fs.statSync('/n')],
    ['listing a directory', () => fs.readdirSync('/')],
    ['a walk', () => [...fs.walkSync('/')]],
    ['reading a file opened outside', () => held.readFileSync()],
    ['opening a file', () => fs.openSync('/n', 'r')],
    ['a checkpoint', () => fs.checkpointSync()],
    ['the list of checkpoints', () => fs.checkpointsSync()],
    ['a fork', () => fs.forkSync()],
  ])('%s from outside throws EBUSY, and the transaction commits', async (_, access) => {
    const before = fs.toJSON();
    const events = fs.watch('/', { recursive: true });
    const heard = events.next();
    fs.transactionSync((t) => {
      t.writeFileSync('/n', '1');
      expect(access).toThrow(expect.objectContaining({ code: 'EBUSY', message: expect.stringContaining('its work') }));
    });
    expect(fs.toJSON()).toEqual({ ...before, '/n': '1' });
    expect(held.statSync().size).toBe(3);
    expect((await heard).value).toMatchObject({ path: '/n' });
    await events.return?.();
    fs.writeFileSync('/n', '0');
  });

  it('a promise of the outer filesystem rejects, and so does the backend of the storage', async () => {
    const far = await openFileSystem(asyncForm(storage));
    const backend = backendOf(storage);
    const begun = fs.transactionSync((t) => {
      t.writeFileSync('/n', '1');
      return [
        fs.writeFile('/outer', 'x'),
        backend.commit({ operationId: 'o', checks: [], writes: [{ kind: 'clear', meta: rootMeta(0) }], limits: {} }),
        far.writeFile('/far', 'x'),
      ].map((each) =>
        each.then(
          () => 'ok',
          (error: { code?: string }) => error.code,
        ),
      );
    });
    expect(await Promise.all(begun)).toEqual(['EBUSY', 'EBUSY', 'ok']);
    expect([fs.readTextSync('/n'), fs.readTextSync('/far'), fs.existsSync('/outer')]).toEqual(['1', 'x', false]);
  });

  it('a filesystem over an overlay throws EBUSY too, and the layer below it goes on', () => {
    const lower = shared().fs;
    const outer = overlay(lower);
    outer.transactionSync((t) => {
      t.writeFileSync('/n', '1');
      expect(() => outer.readTextSync('/held')).toThrow(expect.objectContaining({ code: 'EBUSY' }));
      expect(lower.readTextSync('/n')).toBe('0');
    });
    expect([outer.readTextSync('/n'), lower.readTextSync('/n')]).toEqual(['1', '0']);
  });

  it('a guard may read the filesystem that it guards, and may not change it', () => {
    const inner = shared().fs;
    const seen: unknown[] = [];
    const guarded: SyncFileSystem = restrict(inner, {
      check: ({ path }) => {
        if (path !== '/asked') return;
        seen.push(inner.readTextSync('/n'), [...inner.walkSync('/')].length);
        for (const change of [
          () => inner.writeFileSync('/outer', 'x'),
          () => inner.runSync((view) => view.remove(view.tree.rootLocation, 'n'), []),
        ])
          expect(change).toThrow(expect.objectContaining({ code: 'EBUSY' }));
      },
      isVisible: () => true,
    });
    guarded.transactionSync((t) => {
      t.writeFileSync('/n', '1');
      t.writeFileSync('/asked', '');
    });
    expect([seen, inner.readdirSync('/')]).toEqual([
      ['0', 2],
      ['asked', 'held', 'n'],
    ]);
  });

  it('a walk that began before continues with the state it began with', () => {
    const walk = fs.walkSync('/');
    const first = walk.next().value?.path;
    const rest = fs.transactionSync((t) => {
      t.writeFileSync('/added', '');
      return [...walk].map(({ path }) => path);
    });
    fs.rmSync('/added');
    expect([first, ...rest]).toEqual([...fs.walkSync('/')].map(({ path }) => path));
  });

  it('a file opened outside can be closed', () => {
    const file = fs.openSync('/n', 'r');
    fs.transactionSync((t) => {
      t.rmSync('/n');
      file.closeSync();
    });
    fs.writeFileSync('/n', '0');
    expect(fs.readTextSync('/n')).toBe('0');
  });

  it('closing the storage takes effect after the transaction has committed', () => {
    const executor = MemoryExecutor.create(rootMeta(0));
    const closed = new ExecutorSyncStorage(executor, () => 0);
    openFileSystem(closed).transactionSync((t) => {
      closed.close();
      t.writeFileSync('/n', '1');
    });
    expect(executor.tree.totals().files).toBe(1);
    expect(() => openFileSystem(closed).statSync('/n')).toThrow(StorageError);
  });

  it('a change made by the clock function is refused too, and the filesystem is usable again when the transaction ends, however it ends', () => {
    const executor = MemoryExecutor.create(rootMeta(0));
    let writes: (() => void) | undefined;
    const clocked = openFileSystem(new ExecutorSyncStorage(executor, () => 0), {
      clock: () => {
        const write = writes;
        writes = undefined;
        write?.();
        return 0;
      },
    });
    const work = (): void =>
      clocked.transactionSync((t) => {
        writes = () => clocked.writeFileSync('/outer', 'x');
        t.writeFileSync('/n', '1');
      });
    expect(work).toThrow(expect.objectContaining({ code: 'EBUSY' }));
    clocked.writeFileSync('/after', 'x');
    expect(clocked.readdirSync('/')).toEqual(['after']);
  });

  it('work that returns a promise is refused, and its failure is not an unhandled rejection', async () => {
    const work = async (): Promise<never> => Promise.reject(new Error('late'));
    expect(() => fs.transactionSync(work)).toThrow(TypeError);
    await new Promise((resolve) => setTimeout(resolve, 1));
  });

  it('fork is refused inside, in the promise form too', async () => {
    const inside = fs.transactionSync((t) => {
      expect(() => t.forkSync()).toThrow(expect.objectContaining({ code: 'EINVAL', syscall: 'fork' }));
      return 'ended';
    });
    expect(inside).toBe('ended');
    await expect(fs.transaction((t) => t.fork())).rejects.toMatchObject({ code: 'EINVAL', syscall: 'fork' });
  });
});

describe('small contents that are compacted', () => {
  it('keep their bytes: with several names, beside links and large files, now and in a checkpoint', () => {
    const { fs, executor } = memory();
    const small = (seed: number): Uint8Array => new Uint8Array(4_000).fill(seed);
    fs.mkdirSync('/kept');
    fs.symlinkSync('kept', '/link');
    fs.linkSync('/link', '/same-link');
    fs.writeFileSync('/large', new Uint8Array(100_000).fill(9));
    for (let i = 0; i < 4_000; i++) {
      fs.writeFileSync('/churn', small(i));
      if (i % 100 !== 0) continue;
      fs.writeFileSync(`/kept/${i}`, small(i));
      if (i % 200 === 0) fs.linkSync(`/kept/${i}`, `/kept/name-of-${i}`);
    }
    const checkpoint = fs.checkpointSync();
    fs.linkSync('/large', '/also-large');
    for (let i = 0; i < 8_000; i++) fs.writeFileSync('/churn', small(i));
    expect(executor.tree.shared.contents.slabBytes).toBeLessThanOrEqual(2 ** 24 + 2 ** 15);
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 4_000; i += 100) expect(fs.readFileSync(`/same-link/${i}`)).toEqual(small(i));
      for (let i = 0; i < 4_000; i += 200) expect(fs.readFileSync(`/kept/name-of-${i}`)).toEqual(small(i));
      fs.rmSync('/kept', { recursive: true });
      fs.rollbackSync(checkpoint);
    }
  });
});

describe('a storage that is closed', () => {
  const calls: readonly [string, (fs: FileSystem) => unknown][] = [
    ['checkpoint', (fs) => fs.checkpoint()],
    ['checkpoints', (fs) => fs.checkpoints()],
    ['rollback', (fs) => fs.rollback('kept')],
    ['drop', (fs) => fs.drop('kept')],
    ['diff', (fs) => diff(fs, 'kept')],
    ['fork', (fs) => fs.fork()],
    ['transaction', (fs) => fs.transaction((inner) => inner.writeFile('/b', ''))],
    ['walk', (fs) => fs.walk('/').next()],
    ['a read', (fs) => fs.readFile('/a')],
    ['a write', (fs) => fs.writeFile('/b', '')],
  ];

  it.each(calls)('refuses %s, in memory and as an async storage', async (_, call) => {
    for (const isAsync of [false, true]) {
      const sync = new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0);
      const storage = isAsync ? asyncForm(sync) : sync;
      const fs = await openFileSystem(storage, { files: { '/a': 'x' } });
      await fs.checkpoint('kept');
      await storage.close();
      await expect((async () => call(fs))()).rejects.toMatchObject({ name: 'StorageError', kind: 'closed' });
    }
  });

  it('refuses synchronous operations too, and the commit of a transaction that was begun before', async () => {
    const { fs, executor } = memory();
    fs.checkpointSync('kept');
    await expect(
      fs.transaction(async (inner) => {
        await inner.writeFile('/a', '');
        await executor.close();
      }),
    ).rejects.toMatchObject({ kind: 'closed' });
    for (const call of [
      () => fs.checkpointSync(),
      () => fs.checkpointsSync(),
      () => fs.rollbackSync('kept'),
      () => fs.dropSync('kept'),
      () => fs.forkSync(),
      () => fs.transactionSync(() => {}),
      () => [...fs.walkSync('/')],
    ]) {
      expect(call).toThrow('closed');
    }
  });
});
