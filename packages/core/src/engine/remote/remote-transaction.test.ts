import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../../async-storage.js';
import type { Backend, LoadRequest } from '../../backend.js';
import { openFileSystem } from '../../create-file-system.js';
import { StorageError } from '../../errors.js';
import type { FileSystem } from '../../file-system.js';
import { changedBackend, sampleBackend } from '../../testing/sample-backend.js';
import { RemoteTransaction } from './remote-transaction.js';

const open = (backend: Backend): Promise<FileSystem> => openFileSystem(asyncStorage(backend));

/** Returns a client with an empty cache, over a remote directory of `files` files, and its requests. */
async function far(files: number): Promise<{ fs: FileSystem; requests: LoadRequest[] }> {
  const backend = sampleBackend();
  const content = Object.fromEntries(Array.from({ length: files }, (_, i) => [`/d/f${i}`, `${i}`]));
  await openFileSystem(asyncStorage(backend), { files: content });
  const requests: LoadRequest[] = [];
  const load: Backend['load'] = (asked, call) => {
    requests.push(...asked);
    return backend.load(asked, call);
  };
  return { fs: await openFileSystem(asyncStorage(changedBackend(backend, { load }))), requests };
}

const stat = (fs: FileSystem, count: number): Promise<void> =>
  fs.transaction(async (inner) => {
    for (let i = 0; i < count; i++) expect((await inner.stat(`/d/f${i}`)).kind).toBe('file');
  });

describe('a transaction on a remote storage', () => {
  it('that asks for one name after another in a directory lists it from the fourth on', async () => {
    const { fs, requests } = await far(40);
    await stat(fs, 40);
    expect(requests.filter(({ kind }) => kind === 'list').length).toBe(1);
    expect(requests.length).toBeLessThan(10);
  });

  it('does not list a directory of more than 5,000 names to find a few', async () => {
    const { fs, requests } = await far(5_001);
    await stat(fs, 10);
    expect(requests.filter(({ kind }) => kind === 'list')).toEqual([]);
  });

  it('lists a directory of more than 1,000 names only after it has asked for many of them', async () => {
    const { fs, requests } = await far(1_001);
    await stat(fs, 3);
    expect(requests.filter(({ kind }) => kind === 'list')).toEqual([]);
    await stat(fs, 40);
    expect(requests.filter(({ kind }) => kind === 'list').length).toBe(1);
  });

  it('that moves a directory close to the longest path loads the depth of what exists, and nothing for what does not', async () => {
    const { fs } = await far(3);
    const deep = '/x'.repeat(990);
    await fs.mkdir(deep, { recursive: true });
    await fs.transaction(async (inner) => {
      expect(await inner.exists('/d/missing')).toBe(false);
      await inner.rm('/d/f0');
      await inner.rename('/d', `${deep}/d`);
    });
    expect(await fs.readdir(`${deep}/d`)).toEqual(['f1', 'f2']);
  });

  it('that has listed a directory requests nothing more in it', async () => {
    const { fs, requests } = await far(3);
    const found = await fs.transaction(async (inner) => {
      const names = await inner.readdir('/d');
      requests.length = 0;
      const absent = await inner.exists('/d/missing');
      return { names, absent, asked: requests.length };
    });
    expect(found).toEqual({ names: ['f0', 'f1', 'f2'], absent: false, asked: 0 });
  });

  it('walks its own writes and the existing files', async () => {
    const { fs } = await far(3);
    const seen = await fs.transaction(async (inner) => {
      await inner.writeFile('/d/more', 'x');
      await inner.rm('/d/f0');
      const paths: string[] = [];
      for await (const { path } of inner.walk('/')) paths.push(path);
      return paths;
    });
    expect(seen).toEqual(['/d', '/d/f1', '/d/f2', '/d/more']);
  });

  it('runs its operations one after another in the order of the calls', async () => {
    const { fs } = await far(0);
    const text = await fs.transaction(async (inner) => {
      const begun = ['a', 'b', 'c'].map((part) => inner.appendFile('/log', part));
      await Promise.all(begun);
      return inner.readText('/log');
    });
    expect(text).toBe('abc');
  });

  it('waits for operations begun inside, awaited or not, and refuses those that begin after it has ended', async () => {
    const { fs } = await far(0);
    let late: Promise<unknown> | undefined;
    await fs.transaction(async (inner) => {
      late = inner
        .writeFile('/a', 'x')
        .then(() => inner.writeFile('/b', 'y'))
        .catch((error: unknown) => error);
    });
    expect(await fs.readText('/a')).toBe('x');
    expect(await late).toMatchObject({ code: 'EBADF' });
    expect(await fs.exists('/b')).toBe(false);
  });
});

describe('a transaction that another writer overtakes', () => {
  it.each([
    [{ maxTotalSize: 1000 }, { limit: 'maxTotalSize', used: 610, requested: 1310, allowed: 1000 }],
    [{ maxNodeCount: 2 }, { limit: 'maxNodeCount', used: 2, requested: 3, allowed: 2 }],
  ])(
    'runs again if its writes no longer fit under %j, so that an error shows the stored usage',
    async (limits, shown) => {
      const fs = await openFileSystem(asyncStorage(sampleBackend()), { limits, files: { '/a': 'x'.repeat(10) } });
      const errors: unknown[] = [];
      let runs = 0;
      await fs.transaction(async (inner) => {
        const write = (path: string, size: number): Promise<void> =>
          inner.writeFile(path, 'x'.repeat(size)).catch((error: unknown) => void errors.push(error));
        await write('/b', 700);
        if (runs++ === 0) await fs.writeFile('/c', 'x'.repeat(600));
        await write('/d', 500);
      });
      const [first, ...again] = errors;
      expect(runs).toBe(2);
      expect(first).toMatchObject({ kind: 'conflict' });
      expect(again[0]).toMatchObject({ code: 'ENOSPC', ...shown });
      for (const error of again) expect(error).toMatchObject({ used: shown.used });
    },
  );

  it.each([false, true])(
    'runs again if a file that it has listed is replaced before it is read (pins: %s)',
    async (hasPins) => {
      const backend = sampleBackend();
      const other = await open(backend);
      await other.writeFile('/f', 'old'.repeat(100_000));
      const pins = hasPins ? pinsOf(backend) : undefined;
      const fs = await open(changedBackend(backend, pins?.change ?? {}));
      let runs = 0;
      const text = await fs.transaction(async (tx) => {
        runs += 1;
        await tx.readdir('/');
        if (runs === 1) await other.writeFile('/f', 'new'.repeat(100_000));
        return tx.readText('/f');
      });
      expect(text).toBe('new'.repeat(100_000));
      expect(runs).toBe(2);
      expect(pins?.counts ?? { taken: 1, released: 1 }).toEqual({ taken: 1, released: 1 });
    },
  );

  it('reads from a pin once it has lost a race without writing, and releases it', async () => {
    const backend = sampleBackend();
    const other = await open(backend);
    for (const path of ['/a', '/b']) await other.writeFile(path, '0');
    const { counts, change } = pinsOf(backend);
    const fs = await open(changedBackend(backend, change));
    let runs = 0;
    const seen = await fs.transaction(async (tx) => {
      runs += 1;
      const a = await tx.readText('/a');
      // Another client writes between the two reads, every time.
      await other.transaction(async (writing) => {
        for (const path of ['/a', '/b']) await writing.writeFile(path, `${runs}`);
      });
      return [a, await tx.readText('/b')];
    });
    expect(seen).toEqual(['1', '1']);
    expect(runs).toBe(2);
    expect(counts).toEqual({ taken: 1, released: 1 });
  });

  it('pins nothing if it wins', async () => {
    const backend = sampleBackend();
    const { counts, change } = pinsOf(backend);
    const fs = await open(changedBackend(backend, change));
    await fs.transaction((tx) => tx.writeFile('/f', 'x'));
    await fs.transaction((tx) => tx.readText('/f'));
    for await (const _ of fs.walk('/')) expect(_.path).toBe('/f');
    expect(counts).toEqual({ taken: 0, released: 0 });
  });

  it('runs again if the storage gives up its pin', async () => {
    const backend = sampleBackend();
    const other = await open(backend);
    await other.writeFile('/f', 'x');
    const { counts, change } = pinsOf(backend, (pin) => pin > 2);
    const fs = await open(changedBackend(backend, change));
    let runs = 0;
    const seen = await fs.transaction(async (tx) => {
      runs += 1;
      const text = await tx.readText('/f');
      if (runs === 1) await other.writeFile('/f', 'y');
      return text;
    });
    expect(seen).toBe('y');
    expect(counts).toEqual({ taken: 3, released: 3 });
  });
});

/** Costly pins. A pin for which `isKept` returns false fails at its first load. */
function pinsOf(
  backend: ReturnType<typeof sampleBackend>,
  isKept: (pin: number) => boolean = () => true,
): { readonly counts: { taken: number; released: number }; readonly change: Partial<Backend> } {
  const counts = { taken: 0, released: 0 };
  const pinRead: NonNullable<Backend['pinRead']> = async () => {
    counts.taken += 1;
    const kept = isKept(counts.taken);
    const state = await backend.fork();
    return {
      load: async (requests, call) => {
        if (!kept) throw new StorageError('conflict', 'The pin is gone', { retryable: false });
        return state.load(requests, call);
      },
      release: () => {
        counts.released += 1;
      },
    };
  };
  return { counts, change: { pinRead, hasCostlyPins: true } };
}

describe('methods that a transaction does not have', () => {
  const executor = new RemoteTransaction({} as never, {} as never, undefined);

  it.each([
    ['checkpoint', 'checkpoint'],
    ['checkpoints', 'checkpoints'],
    ['rollback', 'rollback'],
    ['runBeside', 'rollback'],
    ['drop', 'drop'],
    ['compare', 'diff'],
    ['fork', 'fork'],
    ['transaction', 'transaction'],
  ] as const)('%s called on the executor itself is refused, as %s', async (method, syscall) => {
    await expect(executor[method]()).rejects.toMatchObject({ code: 'EINVAL', syscall });
  });
});
