import { describe, expect, it, vi } from 'vitest';
import { asyncStorage } from '../../async-storage.js';
import type { Backend, CheckpointStore, CommitResult, LimitStore, LoadResult } from '../../backend.js';
import { BackendStorage } from '../../backend-storage.js';
import { openFileSystem } from '../../create-file-system.js';
import { OutcomeUnknownError, StorageError, type StorageErrorOptions } from '../../errors.js';
import type { FileSystem } from '../../file-system.js';
import type { Limits } from '../../limits.js';
import { createSnapshot } from '../../snapshot.js';
import { changedBackend as changed, sampleBackend as memory } from '../../testing/sample-backend.js';
import { rootMeta } from '../defaults.js';
import { trustedApi } from '../internals.js';

/** Pauses end immediately; a deadline never expires. */
const timer = {
  sleep: (ms: number, signal: AbortSignal) =>
    ms <= 200
      ? Promise.resolve()
      : new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
};

/** A storage that fails the first call of one method, after it has taken effect unless the error says otherwise. */
function losingAnAnswer(method: 'create' | 'restore' | 'drop', options: StorageErrorOptions = {}): Backend {
  const backend = memory();
  const { checkpointStore } = backend;
  let isLost = false;
  const fail = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    if (isLost || name !== method) return call();
    isLost = true;
    if (options.mayHaveHappened !== false) await call();
    throw new StorageError('unavailable', 'The line is down', options);
  };
  const spoilt: CheckpointStore = {
    create: (...args) => fail('create', () => checkpointStore.create(...args)),
    list: (call) => checkpointStore.list(call),
    restore: (...args) => fail('restore', () => checkpointStore.restore(...args)),
    drop: (...args) => fail('drop', () => checkpointStore.drop(...args)),
    load: (id, requests, call) => checkpointStore.load(id, requests, call),
  };
  return changed(backend, { checkpointStore: spoilt });
}

const open = (backend: Backend, limits?: Limits): Promise<FileSystem> =>
  openFileSystem(asyncStorage(backend, { timer }), limits === undefined ? {} : { limits });

/** Every commit loses the race. */
function losing(checks: readonly number[] = [0]): { backend: Backend; attempts: () => number } {
  let attempts = 0;
  const commit = async (): Promise<CommitResult> => {
    attempts += 1;
    return { kind: 'conflict', checks };
  };
  return { backend: changed(memory(), { commit }), attempts: () => attempts };
}

describe('a load that fails', () => {
  it('did nothing, also if it was for a write', async () => {
    const load = async (): Promise<LoadResult[]> => {
      throw new StorageError('unavailable', 'The line is down');
    };
    const fs = await open(changed(memory(), { load }));
    const calls = [
      () => fs.readFile('/a'),
      () => fs.appendFile('/a/b', 'x'),
      () => fs.transaction((tx) => tx.writeFile('/a/b', 'x')),
      () => createSnapshot(fs),
    ];
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({ kind: 'unavailable', retryable: true, mayHaveHappened: false });
  });
});

describe('a race that is lost again and again', () => {
  it.each([[0], [], [99]])('ends an operation after 64 attempts, whichever checks failed (%j)', async (...checks) => {
    const { backend, attempts } = losing(checks);
    const fs = await open(backend);
    await expect(fs.writeFile('/a', 'x')).rejects.toMatchObject({ name: 'StorageError', kind: 'conflict' });
    expect(attempts()).toBe(64);
  });

  it('ends a transaction after 16 attempts, each of which ran the work', async () => {
    const { backend, attempts } = losing();
    const fs = await open(backend);
    let runs = 0;
    const work = fs.transaction(async (inner) => {
      runs += 1;
      await inner.writeFile('/a', 'x');
    });
    await expect(work).rejects.toMatchObject({ kind: 'conflict' });
    expect([attempts(), runs]).toEqual([16, 16]);
  });

  it('ends a snapshot too', async () => {
    const { backend, attempts } = losing();
    await expect(createSnapshot(await open(backend))).rejects.toMatchObject({ kind: 'conflict' });
    expect(attempts()).toBe(64);
  });

  it('ends a walk that loses while it starts; a walk that wins lists from the new state', async () => {
    const inner = memory();
    const maker = await open(inner);
    await maker.mkdir('/d/e', { recursive: true });
    await maker.symlink('d', '/link');
    const walkAfter = async (lost: number): Promise<{ paths: string[]; attempts: number }> => {
      let attempts = 0;
      const commit: Backend['commit'] = async (batch) =>
        ++attempts <= lost ? { kind: 'conflict', checks: [0] } : inner.commit(batch);
      const paths: string[] = [];
      const fs = await open(changed(inner, { commit }));
      // A walk loads the target of the link after the link.
      for await (const { path } of fs.walk('/link')) paths.push(path);
      return { paths, attempts };
    };
    expect(await walkAfter(3)).toEqual({ paths: ['/d/e'], attempts: 4 });
    await expect(walkAfter(100)).rejects.toMatchObject({ kind: 'conflict' });
  });

  it('is won after a few losses', async () => {
    const inner = memory();
    let races = 3;
    const backend = changed(inner, {
      commit: async (batch) => (races-- > 0 ? { kind: 'conflict', checks: [0] } : inner.commit(batch)),
    });
    const fs = await open(backend);
    await fs.transaction(async (one) => one.writeFile('/a', 'x'));
    expect(await fs.readText('/a')).toBe('x');
  });
});

describe('an operation on a remote storage', () => {
  it('rejects with the error of the operation, and the storage stays as it is', async () => {
    const backend = memory();
    const fs = await open(backend);
    await fs.mkdir('/d');
    await fs.writeFile('/d/f', 'x');
    await expect(fs.readFile('/missing')).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(fs.rmdir('/d')).rejects.toMatchObject({ code: 'ENOTEMPTY' });
    await fs.cp('/d/f', '/copy');
    await fs.rm('/d/f');
    await fs.rmdir('/d');
    expect(await (await open(backend)).readdir('/')).toEqual(['copy']);
  });

  it('does not remove a directory to which another client has added a file', async () => {
    const backend = memory();
    const [fs, other] = await Promise.all([open(backend), open(backend)]);
    await fs.mkdir('/d');
    expect(await fs.readdir('/d')).toEqual([]);
    await other.writeFile('/d/f', 'x');
    await expect(fs.rmdir('/d')).rejects.toMatchObject({ code: 'ENOTEMPTY' });
  });

  it('is independent of a fork, in both directions', async () => {
    const fs = await open(memory());
    await fs.writeFile('/a', 'both');
    const fork = await fs.fork();
    await fs.writeFile('/a', 'mine');
    await fork.writeFile('/b', 'theirs');
    expect([await fork.readText('/a'), await fs.exists('/b')]).toEqual(['both', false]);
    await fork.close();
  });
});

describe('a failure inside a transaction', () => {
  it('rejects with that failure, and nothing is written', async () => {
    const fs = await open(memory());
    const work = fs.transaction(async (inner) => {
      await inner.writeFile('/a', 'x');
      await inner.readFile('/missing');
    });
    await expect(work).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await fs.exists('/a')).toBe(false);
  });

  it('that reading two states may have caused makes the work run again', async () => {
    const backend = memory();
    const [fs, other] = await Promise.all([open(backend), open(backend)]);
    await fs.writeFile('/a', 'old');
    let runs = 0;
    const text = await fs.transaction(async (inner) => {
      runs += 1;
      const seen = await inner.readText('/a');
      if (runs === 1) await other.writeFile('/a', 'new');
      if (seen === 'old') throw new Error('An old value was seen');
      return seen;
    });
    expect([text, runs]).toEqual(['new', 2]);
  });

  it.each(['checkpoint', 'checkpoints', 'rollback', 'drop', 'fork', 'transaction'] as const)(
    '%s is refused there',
    async (method) => {
      const fs = await open(memory());
      const call = (inner: FileSystem): Promise<unknown> => {
        if (method === 'transaction') return inner.transaction(async () => undefined);
        return method === 'rollback' || method === 'drop' ? inner[method]('x') : inner[method]();
      };
      await expect(fs.transaction(async (inner) => call(inner as FileSystem))).rejects.toMatchObject({
        code: 'EINVAL',
        syscall: method,
      });
    },
  );

  it('an abort of one call inside ends that call; an abort of the transaction ends everything', async () => {
    const fs = await open(memory(), {});
    await fs.transaction(async (inner) => {
      const gone = inner.readFile('/missing', { signal: AbortSignal.abort('mine') });
      await expect(gone).rejects.toBe('mine');
      const never = new AbortController();
      await inner.writeFile('/a', 'x', { signal: never.signal });
    });
    const whole = new AbortController();
    const work = fs.transaction(
      async (inner) => {
        await inner.writeFile('/a', 'y', { signal: new AbortController().signal });
        whole.abort('enough');
        await inner.writeFile('/b', 'y', { signal: new AbortController().signal });
      },
      { signal: whole.signal },
    );
    await expect(work).rejects.toBe('enough');
    expect(await fs.readText('/a')).toBe('x');
  });
});

describe('a batch of many writes that is applied in slices', () => {
  const FILES = 300;
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  /** Runs `work` with a clock that uses up every slice, and `other` repeatedly until `work` ends. Returns how often. */
  async function beside(work: () => Promise<unknown>, other: () => Promise<unknown>): Promise<number> {
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 10));
    let isDone = false;
    let runs = 0;
    try {
      const working = work().finally(() => {
        isDone = true;
      });
      for (; !isDone; runs++) {
        await other();
        await turn();
      }
      await working;
    } finally {
      clock.mockRestore();
    }
    return runs;
  }

  const many = async (inner: FileSystem): Promise<void> => {
    for (let i = 0; i < FILES; i++) await inner.writeFile(`/d/${i}`, 'x');
  };

  async function scene(): Promise<{ fs: FileSystem; backend: Backend }> {
    const backend = memory();
    const fs = await open(backend);
    await fs.mkdir('/d');
    await fs.writeFile('/f', 'old!');
    return { fs, backend };
  }

  it('shows no client the state of a file between two of them', async () => {
    const { fs } = await scene();
    const seen = new Set<string>();
    const runs = await beside(
      () =>
        fs.transaction(async (inner) => {
          await inner.writeFile('/f', 'AAAA');
          await many(inner);
          await inner.writeFile('/f', 'BBBB');
        }),
      async () => seen.add(await fs.readText('/f')),
    );
    expect(runs).toBeGreaterThan(FILES / 4);
    expect([...seen]).toEqual(['old!', 'BBBB']);
  });

  it('lets no client write back the state of a file between two of them', async () => {
    const { fs, backend } = await scene();
    let edits = 0;
    await beside(
      () =>
        fs.transaction(async (inner) => {
          await inner.writeFile('/f', 'AAAA');
          await many(inner);
          await inner.writeFile('/f', 'BBBB');
        }),
      () =>
        fs.editFile('/f', 'AAAA', 'MINE').then(
          () => (edits += 1),
          () => undefined,
        ),
    );
    expect([edits, await (await open(backend)).readText('/f')]).toEqual([0, 'BBBB']);
  });

  it('is published before concurrent commits, to watchers and open files', async () => {
    const { fs, backend } = await scene();
    const handle = await fs.open('/f', 'r+');
    const stop = new AbortController();
    const heard: string[] = [];
    const watching = (async () => {
      for await (const { type, path } of fs.watch('/', { recursive: false, signal: stop.signal }))
        if (type === 'rename') heard.push(path);
    })().catch(() => undefined);
    let isDone = false;
    let isMovedMeanwhile = false;
    await beside(
      () =>
        fs
          .transaction(async (inner) => {
            await many(inner);
            await inner.rename('/f', '/g');
          })
          .finally(() => {
            isDone = true;
          }),
      () =>
        fs.rename('/g', '/h').then(
          () => {
            isMovedMeanwhile ||= !isDone;
          },
          () => undefined,
        ),
    );
    await handle.writeFile('mine');
    await handle.close();
    await turn();
    stop.abort();
    await watching;
    expect(isMovedMeanwhile).toBe(true);
    expect(heard).toEqual(['/g', '/h']);
    expect(await (await open(backend)).readText('/h')).toBe('mine');
  });
});

describe('a storage that says a limit is exceeded', () => {
  it.each([
    ['maxTotalSize', 'ENOSPC'],
    ['maxNodeCount', 'ENOSPC'],
    ['maxFileSize', 'EFBIG'],
  ] as const)('is trusted: %s is %s, with the figures and the path', async (limit, code) => {
    const commit = async (): Promise<CommitResult> => ({ kind: 'limit', limit, allowed: 3, used: 2, requested: 4 });
    const fs = await open(changed(memory(), { commit }));
    await expect(fs.writeFile('/a', 'text')).rejects.toMatchObject({
      code,
      path: '/a',
      limit,
      allowed: 3,
      used: 2,
      requested: 4,
    });
  });

  it('refuses a rollback that would exceed it, and nothing changes', async () => {
    const backend = memory();
    const wide = await open(backend);
    await wide.writeFile('/large', 'x'.repeat(100));
    const checkpoint = await wide.checkpoint();
    await wide.writeFile('/large', '');
    const narrow = await open(backend, { maxTotalSize: 10 });
    await expect(narrow.rollback(checkpoint)).rejects.toMatchObject({ code: 'ENOSPC', limit: 'maxTotalSize' });
    expect(await narrow.readText('/large')).toBe('');
  });

  it('keeps no more checkpoints than allowed, named or not', async () => {
    const fs = await open(memory(), { maxCheckpoints: 1 });
    await fs.checkpoint();
    const refused = { code: 'ENOSPC', limit: 'maxCheckpoints', used: 1, requested: 2, allowed: 1 };
    await expect(fs.checkpoint()).rejects.toMatchObject(refused);
    await expect(fs.checkpoint('second')).rejects.toMatchObject({ ...refused, path: 'second' });
  });
});

describe('a storage that returns something else than requested', () => {
  const answering = (result: LoadResult): Promise<FileSystem> =>
    open(changed(memory(), { load: async (requests) => requests.map(() => result) }));
  const root = {
    id: 'r',
    kind: 'file',
    meta: rootMeta(0),
    version: 1,
    size: 0,
    links: 1,
  } as const;

  it('too few results are reported as corrupt', async () => {
    const fs = await open(changed(memory(), { load: async () => [] }));
    await expect(fs.readFile('/a')).rejects.toMatchObject({ name: 'StorageError', kind: 'corrupt' });
  });

  it('a root that is a file is reported as corrupt', async () => {
    const fs = await answering({ kind: 'path', nodes: [root] });
    await expect(fs.readFile('/a')).rejects.toMatchObject({ kind: 'corrupt' });
  });

  it('only missing nodes are reported as corrupt', async () => {
    const fs = await answering({ kind: 'gone' });
    await expect(fs.readFile('/a')).rejects.toMatchObject({ kind: 'corrupt' });
  });

  it('a snapshot that never learns the root rejects with a conflict', async () => {
    const fs = await answering({ kind: 'path', nodes: [null] });
    await expect(createSnapshot(fs)).rejects.toMatchObject({ kind: 'conflict' });
  });

  it('a failure of the storage ends a read of the whole state immediately', async () => {
    const broken = new StorageError('corrupt', 'Damaged');
    let loads = 0;
    const load = async (): Promise<never> => {
      loads += 1;
      throw broken;
    };
    await expect(createSnapshot(await open(changed(memory(), { load })))).rejects.toBe(broken);
    expect(loads).toBe(1);
  });
});

describe('checkpoints of a remote storage', () => {
  it('are found by object, by id and by name', async () => {
    const fs = await open(memory());
    await fs.writeFile('/a', '1');
    const named = await fs.checkpoint('named');
    for (const which of [named, named.id, 'named']) {
      await fs.writeFile('/a', '2');
      await fs.rollback(which);
      expect(await fs.readText('/a')).toBe('1');
    }
    await fs.drop('named');
    expect(await fs.checkpoints()).toEqual([]);
  });

  it('cannot share a name', async () => {
    const fs = await open(memory());
    await fs.checkpoint('once');
    await expect(fs.checkpoint('once')).rejects.toMatchObject({ code: 'EEXIST', path: 'once' });
  });

  it.each(['rollback', 'drop'] as const)(
    '%s of a dropped one is ENOENT, of something else a TypeError',
    async (method) => {
      const fs = await open(memory());
      const dropped = await fs.checkpoint();
      await fs.drop(dropped);
      await expect(fs[method](dropped)).rejects.toMatchObject({ code: 'ENOENT', syscall: method });
      await expect(fs[method]('nowhere')).rejects.toMatchObject({ code: 'ENOENT', path: 'nowhere' });
      await expect(fs[method](undefined as unknown as string)).rejects.toThrow(TypeError);
      await expect(fs[method]({} as unknown as string)).rejects.toThrow(TypeError);
    },
  );

  it('are ENOTSUP if the storage has none, and so is a fork', async () => {
    const { checkpointStore: _, fork: __, ...rest } = changed(memory(), {});
    const fs = await open(rest);
    await expect(fs.checkpoint()).rejects.toMatchObject({ code: 'ENOTSUP', syscall: 'checkpoint' });
    await expect(fs.checkpoints()).rejects.toMatchObject({ code: 'ENOTSUP' });
    await expect(fs.fork()).rejects.toMatchObject({ code: 'ENOTSUP', syscall: 'fork' });
  });

  it('the empty name does not exist, and does not mean the present state', async () => {
    const fs = await open(memory());
    for (const [from, to] of [['', undefined] as const, [undefined, ''] as const]) {
      const items = trustedApi(fs).compare(from, to, () => ({ next: () => undefined }));
      await expect(items).rejects.toMatchObject({ code: 'ENOENT' });
    }
  });

  it('a checkpoint whose reply is lost is requested again under its id, and created once', async () => {
    const fs = await open(losingAnAnswer('create'));
    const checkpoint = await fs.checkpoint('kept');
    expect(await fs.checkpoints()).toEqual([checkpoint]);
  });

  it('a checkpoint that is dropped while its reply is lost is gone, as requested', async () => {
    const fs = await open(losingAnAnswer('drop'));
    const checkpoint = await fs.checkpoint();
    await fs.drop(checkpoint);
    expect(await fs.checkpoints()).toEqual([]);
  });

  it('a rollback with an unknown outcome is unknown; one that certainly did not happen is sent again', async () => {
    const lost = await open(losingAnAnswer('restore'));
    await expect(lost.rollback(await lost.checkpoint())).rejects.toMatchObject({ name: 'OutcomeUnknownError' });
    const unsent = await open(losingAnAnswer('restore', { mayHaveHappened: false }));
    const before = await unsent.checkpoint();
    await unsent.writeFile('/later', '');
    await unsent.rollback(before);
    expect(await unsent.exists('/later')).toBe(false);
  });
});

describe('a change that has the same effect when repeated', () => {
  /** Fails a method `times` times after it has taken effect. */
  function losing<A extends unknown[], R>(times: number, call: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
    let lost = 0;
    return async (...args) => {
      const result = await call(...args);
      if (lost++ < times) throw new StorageError('timeout', 'The reply is lost');
      return result;
    };
  }

  it('succeeds after a lost reply, and has an unknown outcome if all are lost: destroy', async () => {
    let isDeleted = false;
    const destroy = async (): Promise<void> => {
      isDeleted = true;
    };
    const storage = (times: number) =>
      new BackendStorage(changed(memory(), { destroy: losing(times, destroy) }), { timer });
    await storage(1).destroy();
    const error = { name: 'OutcomeUnknownError', mayHaveHappened: true, retryable: false };
    await expect(storage(99).destroy()).rejects.toMatchObject(error);
    expect(isDeleted).toBe(true);
  });

  it('succeeds after a lost reply, and has an unknown outcome if all are lost: the first limits', async () => {
    const limits = { maxTotalSize: 5 };
    const openLosing = (times: number): Promise<FileSystem> => {
      const backend = memory();
      const { limitStore } = backend;
      const store = losing(times, limitStore.open);
      const open: LimitStore['open'] = (initial, call) =>
        Object.keys(initial).length === 0 ? limitStore.open(initial, call) : store(initial, call);
      return openFileSystem(asyncStorage(changed(backend, { limitStore: { ...limitStore, open } }), { timer }), {
        limits,
      });
    };
    expect((await openLosing(1)).limits).toEqual(limits);
    await expect(openLosing(99)).rejects.toMatchObject({ name: 'OutcomeUnknownError', mayHaveHappened: true });
  });

  it('is not stated to have failed by a read that reports an unknown outcome', async () => {
    const load = async (): Promise<never> => {
      throw new OutcomeUnknownError('a');
    };
    const fs = await open(changed(memory(), { load }));
    await expect(fs.readFile('/a')).rejects.toMatchObject({ name: 'OutcomeUnknownError', mayHaveHappened: true });
  });
});

describe('a storage without transactions', () => {
  it('refuses a transaction before its work runs', async () => {
    const backend = memory();
    const capabilities = { ...backend.capabilities, transactions: false };
    const fs = await open(changed(backend, { capabilities }));
    let runs = 0;
    const work = fs.transaction(async () => {
      runs += 1;
    });
    await expect(work).rejects.toMatchObject({ code: 'ENOTSUP', syscall: 'transaction' });
    expect(runs).toBe(0);
  });
});

describe('the options of a remote storage', () => {
  it('are checked', () => {
    expect(() => asyncStorage(memory(), { timeoutMs: 0 })).toThrow(RangeError);
    expect(() => asyncStorage(memory(), { retries: -1 })).toThrow(RangeError);
    expect(() => asyncStorage(memory(), { retry: 1 } as object)).toThrow(TypeError);
  });

  it('set how often a request is sent again after a transient failure', async () => {
    const sent: number[] = [];
    for (const retries of [0, 5]) {
      let loads = 0;
      const load = async (): Promise<never> => {
        loads += 1;
        throw new StorageError('unavailable', 'The line is down');
      };
      const fs = await openFileSystem(asyncStorage(changed(memory(), { load }), { timer, timeoutMs: 500, retries }));
      await expect(fs.readFile('/a')).rejects.toMatchObject({ kind: 'unavailable' });
      sent.push(loads);
    }
    expect(sent).toEqual([1, 6]);
  });

  it('closing the storage closes its backend', async () => {
    const backend = memory();
    const storage = asyncStorage(backend);
    await storage.close();
    await expect(backend.load([])).rejects.toMatchObject({ kind: 'closed' });
  });
});
