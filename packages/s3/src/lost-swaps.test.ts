import { setTimeout as sleep } from 'node:timers/promises';
import { type Batch, type Checkpoint, type FileSystem, OutcomeUnknownError, StorageError } from '@scratchfs/core';
import { type ObjectStore, ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTree as open } from './testing/open-tree.js';

const LONG = { timeout: 60_000 };
const meta = { mode: 0o644, uid: 0, gid: 0, atime: 0, mtime: 0, ctime: 0, birthtime: 0 };

let store: ObjectStore;
/** Milliseconds added to the real time. */
let passed: number;

beforeEach(() => {
  store = new MemoryObjectStore();
  passed = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + passed);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const through = (others: Partial<ObjectStore>): ObjectStore => alteredStore(store, others);
const seenByAnother = async (): Promise<FileSystem> => (await open(store)).fs;

function creationOf(name: string): Batch {
  return {
    operationId: name,
    checks: [{ kind: 'entry', path: `/${name}`, id: null }],
    writes: [{ kind: 'create', path: `/${name}`, id: name, type: 'file', meta }],
    limits: {},
  };
}

/**
 * Returns a batch with an object too large for the cache and a file with two names, so that opening the new head takes
 * a request.
 */
function largeOf(name: string): Batch {
  const writes: Batch['writes'][number][] = Array.from({ length: 64 }, (_, i) => ({
    kind: 'create',
    path: `/${name}${i}`,
    id: `${name}${i}`,
    type: 'file',
    meta,
    content: new Uint8Array(2 ** 17).fill(i + 1),
  }));
  writes.push({ kind: 'link', from: `/${name}0`, path: `/${name}` });
  return { operationId: name, checks: [], writes, limits: {} };
}

describe('A swap of the head', () => {
  it('that is refused after an earlier one got no reply may still happen', async () => {
    let swaps = 0;
    let late: () => Promise<unknown> = async () => {};
    const { fs } = await open(
      through({
        swapHead: async (bytes, expected) => {
          swaps += 1;
          if (swaps === 3) {
            late = () => store.swapHead(bytes, expected);
            throw new StorageError('timeout', 'There was no answer');
          }
          if (swaps === 4) {
            setTimeout(() => void late(), 1);
            throw new StorageError('unavailable', 'The store refuses the credentials', {
              retryable: false,
              mayHaveHappened: false,
            });
          }
          return store.swapHead(bytes, expected);
        },
      }),
    );
    await fs.writeFile('/log', '');
    await fs.appendFile('/log', 'once;');
    await sleep(50);
    expect(await (await seenByAnother()).readText('/log')).toBe('once;');
  });

  it('is not repeated if its failure says that trying again is useless', async () => {
    let isLost = true;
    const { fs } = await open(
      through({
        swapHead: async (bytes, expected) => {
          const tag = await store.swapHead(bytes, expected);
          if (expected === undefined || !isLost) return tag;
          isLost = false;
          throw new StorageError('unavailable', 'The connection was cut', { retryable: false });
        },
      }),
    );
    await fs.writeFile('/log', '');
    isLost = true;
    await fs.appendFile('/log', 'x');
    expect(await (await seenByAnother()).readText('/log')).toBe('x');
  });

  it('is repeated if its failure says that it did not happen and may succeed later', async () => {
    let refusals = 0;
    const { backend } = await open(
      through({
        swapHead: async (bytes, expected) => {
          if (expected === undefined || ++refusals > 2) return store.swapHead(bytes, expected);
          throw new StorageError('unavailable', 'Too many requests', { mayHaveHappened: false });
        },
      }),
    );
    expect(await backend.commit(creationOf('x'))).toMatchObject({ kind: 'ok' });
    refusals = Number.NEGATIVE_INFINITY;
    await expect(backend.commit(creationOf('y'))).rejects.toMatchObject({
      message: 'Too many requests',
      mayHaveHappened: false,
    });
  });

  it('is settled by a fence whose own response is lost', async () => {
    let swaps = 0;
    const { fs } = await open(
      through({
        swapHead: async (bytes, expected) => {
          if (expected === undefined) return store.swapHead(bytes, expected);
          swaps += 1;
          // The commit and the first fence never arrive; the second fence does.
          if (swaps > 2) await store.swapHead(bytes, expected);
          if (swaps <= 3) throw new StorageError('unavailable', 'The connection was cut', { retryable: false });
          return store.swapHead(bytes, expected);
        },
      }),
    );
    await fs.writeFile('/log', 'x');
    expect(await (await seenByAnother()).readText('/log')).toBe('x');
  });

  it('counts as done if its objects are replaced and collected before they are read', LONG, async () => {
    let isDone = false;
    const { backend } = await open(
      through({
        swapHead: async (...what) => {
          const tag = await store.swapHead(...what);
          if (tag === undefined || isDone || !(await seenByAnother().then((fs) => fs.exists('/x')))) return tag;
          isDone = true;
          const other = await open(store);
          for (const name of await other.fs.readdir('/')) await other.fs.rm(`/${name}`);
          await other.backend.collectGarbage();
          return tag;
        },
      }),
    );
    expect(await backend.commit(largeOf('x'))).toMatchObject({ kind: 'ok' });
    expect(await (await seenByAnother()).readdir('/')).toEqual([]);
  });

  it('counts as done if its objects come back damaged', LONG, async () => {
    let isDamaged = false;
    const { backend } = await open(
      through({
        get: async (...what) => {
          const bytes = await store.get(...what);
          return isDamaged ? bytes?.map((byte) => byte ^ 1) : bytes;
        },
        swapHead: async (...what) => {
          const tag = await store.swapHead(...what);
          isDamaged = tag !== undefined && (await seenByAnother().then((fs) => fs.exists('/x')));
          return tag;
        },
      }),
    );
    expect(await backend.commit(largeOf('x'))).toMatchObject({ kind: 'ok' });
    isDamaged = false;
    expect(await backend.outcome('x')).toMatchObject({ kind: 'ok' });
    expect(await (await seenByAnother()).readdir('/')).toHaveLength(65);
  });

  describe('of a client that was idle while 256 others committed', () => {
    let fs: FileSystem;
    let kept: Checkpoint;

    beforeEach(async () => {
      ({ fs } = await open(store));
      await fs.writeFile('/a', '1');
      kept = await fs.checkpoint('kept');
      for (let i = 0; i < 256; i++) {
        const other = new ObjectTreeBackend(store);
        const touch = { kind: 'touch', path: '/', time: i } as const;
        await other.commit({ operationId: `${i}`, checks: [], writes: [touch], limits: {} });
        await other.close();
      }
      passed += 30_000;
    });

    it('is based on what they have left', LONG, async () => {
      await fs.writeFile('/a', '2');
      expect(await (await seenByAnother()).readText('/a')).toBe('2');
    });

    it('is repeated if that gives the same result', LONG, async () => {
      await fs.checkpoint('again');
      expect((await fs.checkpoints()).map(({ name }) => name)).toEqual(['kept', 'again']);
    });

    it('is sent again if it was refused, although no head remembers the client', LONG, async () => {
      await fs.rollback(kept);
      expect(await (await seenByAnother()).readText('/a')).toBe('1');
    });
  });

  it('counts as read when it was sent: a slow response does not extend maxStalenessMs', async () => {
    let isSlow = false;
    const way = through({
      swapHead: async (...what) => {
        const tag = await store.swapHead(...what);
        if (!isSlow) return tag;
        isSlow = false;
        await (await seenByAnother()).writeFile('/other', '');
        await sleep(400);
        return tag;
      },
    });
    const { fs } = await open(way, { maxStalenessMs: 200 });
    await fs.writeFile('/a', '1');
    isSlow = true;
    await fs.writeFile('/a', '2');
    expect(await fs.exists('/other')).toBe(true);
  });
});

describe('An operation', () => {
  it('that is sent twice is applied once and returns the same result', async () => {
    const { backend } = await open(store);
    const answers = await Promise.all([backend.commit(creationOf('x')), backend.commit(creationOf('x'))]);
    expect(answers).toMatchObject([{ kind: 'ok' }, { kind: 'ok' }]);
    expect(await backend.outcome('x')).toEqual(answers[0]);
  });

  it('whose reply was lost is not sent again when its batch is repeated', async () => {
    let swaps = 0;
    let isLost = false;
    const { backend } = await open(
      through({
        swapHead: async (...what) => {
          const tag = await store.swapHead(...what);
          if (tag !== undefined) swaps += 1;
          if (isLost) throw new StorageError('timeout', 'There was no answer');
          return tag;
        },
        readHead: async (known) => {
          if (isLost) throw new StorageError('unavailable', 'The line is down', { retryable: false });
          return store.readHead(known);
        },
      }),
    );
    await backend.commit(creationOf('first'));
    const before = swaps;
    isLost = true;
    await expect(backend.commit(creationOf('x'))).rejects.toMatchObject({ name: 'StorageError' });
    isLost = false;
    expect(await backend.commit(creationOf('x'))).toMatchObject({ kind: 'ok' });
    expect(swaps - before).toBe(1);
  });

  it('that is aborted reports its true outcome, however many others run', LONG, async () => {
    const { fs } = await open(
      through({
        swapHead: async (...what) => {
          await sleep(20);
          return store.swapHead(...what);
        },
      }),
    );
    const others = new Set<Promise<void>>();
    let count = 0;
    const going = setInterval(() => {
      count += 1;
      const one = fs.writeFile(`/busy${count % 10}`, '').finally(() => others.delete(one));
      others.add(one);
    }, 5);
    try {
      await sleep(100);
      for (let i = 0; i < 6; i++) {
        const enough = new Error('enough');
        const controller = new AbortController();
        setTimeout(() => controller.abort(enough), 12 + i * 4);
        const error = await fs
          .writeFile(`/y${i}`, '', { signal: controller.signal })
          .catch((caught: unknown) => caught);
        expect([undefined, enough]).toContain(error);
        expect(await fs.exists(`/y${i}`)).toBe(error === undefined);
      }
    } finally {
      clearInterval(going);
      await Promise.all(others);
    }
  });

  it('that was forgotten after ten thousand others is unknown, not absent', LONG, async () => {
    const { backend } = await open(store);
    await backend.commit(creationOf('x'));
    expect(await backend.outcome('never sent')).toBe('absent');
    for (let i = 0; i < 40; i++)
      await Promise.all(
        Array.from({ length: 256 }, (_, j) => {
          const touch = { kind: 'touch', path: '/', time: i } as const;
          return backend.commit({ operationId: `${i}.${j}`, checks: [], writes: [touch], limits: {} });
        }),
      );
    expect(await backend.outcome('x')).toBe('unknown');
  });
});

describe('A failure', () => {
  /** Opens a client whose next swap loses its reply, after which heads are damaged; or whose next swap is refused. */
  async function failing() {
    const mood = { losesAnswer: false, isDamaged: false, refuses: false };
    const { fs } = await open(
      through({
        readHead: async (known) => {
          const head = await store.readHead(known);
          return mood.isDamaged && typeof head === 'object' ? { ...head, bytes: head.bytes.slice(1) } : head;
        },
        swapHead: async (...what) => {
          if (mood.refuses)
            throw new StorageError('unavailable', 'The store refuses it', { retryable: false, mayHaveHappened: false });
          const tag = await store.swapHead(...what);
          mood.isDamaged ||= mood.losesAnswer;
          if (mood.losesAnswer) throw new StorageError('timeout', 'There was no answer');
          return tag;
        },
      }),
      { retries: 0 },
    );
    return { fs, mood };
  }

  it('is unknown if its swap was sent and the head is damaged afterwards', LONG, async () => {
    const { fs, mood } = await failing();
    await fs.writeFile('/a', '1');
    const kept = await fs.checkpoint();
    await fs.writeFile('/a', '2');
    for (const [change, left] of [
      [() => fs.appendFile('/a', '3'), '23'],
      [() => fs.rollback(kept), '1'],
    ] as const) {
      Object.assign(mood, { losesAnswer: true });
      await expect(change()).rejects.toBeInstanceOf(OutcomeUnknownError);
      expect(await (await seenByAnother()).readText('/a')).toBe(left);
      Object.assign(mood, { losesAnswer: false, isDamaged: false });
    }
  });

  it('has not happened if no swap was sent, or the only one was refused', async () => {
    const { fs, mood } = await failing();
    const kept = await fs.checkpoint();
    mood.refuses = true;
    await expect(fs.rollback(kept)).rejects.toMatchObject({ message: 'The store refuses it', mayHaveHappened: false });
    await expect(fs.fork()).rejects.toMatchObject({ message: 'The store refuses it', mayHaveHappened: false });
  });

  it('before its swap was sent is absent, even after ten thousand other operations', LONG, async () => {
    const { backend } = await open(
      through({
        put: async () => {
          throw new StorageError('unavailable', 'The store is down');
        },
      }),
      { retries: 0 },
    );
    const touch = { kind: 'touch', path: '/', time: 1 } as const;
    const touchOf = (operationId: string): Batch => ({ operationId, checks: [], writes: [touch], limits: {} });
    for (let i = 0; i < 40; i++)
      await Promise.all(Array.from({ length: 256 }, (_, j) => backend.commit(touchOf(`${i}.${j}`))));
    await expect(backend.commit(creationOf('x'))).rejects.toThrow('down');
    expect(await backend.outcome('x')).toBe('absent');
    expect(await backend.outcome('0.0')).toBe('unknown');
  });

  it('before its swap was sent does not prevent the same batch from succeeding later', async () => {
    let isDown = true;
    const { backend } = await open(
      through({
        put: async (...what) => {
          if (isDown) throw new StorageError('unavailable', 'The store is down');
          return store.put(...what);
        },
      }),
      { retries: 0 },
    );
    await expect(backend.commit(creationOf('x'))).rejects.toThrow('down');
    isDown = false;
    expect(await backend.commit(creationOf('x'))).toMatchObject({ kind: 'ok' });
    expect(await backend.outcome('x')).toMatchObject({ kind: 'ok' });
  });
});
