import type { Batch, LoadResult } from '@scratchfs/core';
import { type ObjectStore, ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { beforeEach, describe, expect, it } from 'vitest';

const meta = { mode: 0o644, uid: 0, gid: 0, atime: 0, mtime: 0, ctime: 0, birthtime: 0 };
/** Duration in milliseconds that exceeds a time slice. */
const LONG_MS = 20;

let store: MemoryObjectStore;
/** Names of the steps of a commit and of concurrent tasks, in the order in which they ran. */
let events: string[];

beforeEach(() => {
  store = new MemoryObjectStore();
  events = [];
});

function creationOf(name: string, content = new Uint8Array([1])): Batch['writes'][number] {
  return { kind: 'create', path: `/${name}`, id: name, type: 'file', meta, content };
}

function batchOf(operationId: string, writes: Batch['writes'], checks: Batch['checks'] = []): Batch {
  return { operationId, checks, writes, limits: {} };
}

/** Returns a batch of three files. Creating the second uses up the time slice, so `work` runs before the third. */
function batchAround(work: () => void, limits: Batch['limits'] = {}): Batch {
  let reads = 0;
  const second = {
    ...creationOf('second'),
    get content() {
      reads += 1;
      // The first read only counts the bytes.
      if (reads > 1) {
        events.push('second');
        for (const since = performance.now(); performance.now() - since < LONG_MS; );
        if (reads === 2)
          void Promise.resolve().then(() => {
            events.push('between');
            work();
          });
      }
      return new Uint8Array([2]);
    },
  };
  const third = {
    ...creationOf('third'),
    get content() {
      if (reads > 1) events.push('third');
      return new Uint8Array([3]);
    },
  };
  return { ...batchOf('around', [creationOf('first'), second, third]), limits };
}

/** Returns the names that a client sees in the root. */
async function namesIn(backend: ObjectTreeBackend): Promise<readonly string[]> {
  const [root] = await backend.load([{ kind: 'path', path: '/', content: 0 }]);
  const id = (root as Extract<LoadResult, { kind: 'path' }>).nodes[0]?.id as string;
  const [listing] = await backend.load([{ kind: 'list', at: { path: '/', id }, after: undefined, limit: 100 }]);
  return (listing as Extract<LoadResult, { kind: 'list' }>).names;
}

/** Returns the store with swaps that first wait for `what`. */
function swappingAfter(what: () => Promise<unknown>): ObjectStore {
  return alteredStore(store, {
    swapHead: async (bytes, expected) => {
      await what();
      return store.swapHead(bytes, expected);
    },
  });
}

const namesInStore = (): Promise<readonly string[]> => namesIn(new ObjectTreeBackend(store));

describe('Between two slices of a commit', () => {
  it('the commit is invisible to its own client and to others', async () => {
    let seen: Promise<unknown> = Promise.resolve();
    const backend = new ObjectTreeBackend(swappingAfter(() => seen));
    await backend.commit(batchOf('before', [creationOf('before')]));
    const batch = batchAround(() => {
      seen = Promise.all([namesIn(backend), namesInStore()]);
    });
    expect(await backend.commit(batch)).toMatchObject({ kind: 'ok' });
    expect(events).toEqual(['second', 'between', 'third']);
    expect(await seen).toEqual([['before'], ['before']]);
    expect(await namesInStore()).toEqual(['before', 'first', 'second', 'third']);
  });

  it('it can be withdrawn, and then none of it is stored', async () => {
    const backend = new ObjectTreeBackend(store);
    await backend.commit(batchOf('before', [creationOf('before')]));
    const objects = store.objects.size;
    let outcome: Promise<unknown> = Promise.resolve();
    const batch = batchAround(() => {
      outcome = backend.outcome('around');
    });
    await expect(backend.commit(batch)).rejects.toMatchObject({ kind: 'unavailable', mayHaveHappened: false });
    expect(await outcome).toBe('absent');
    await backend.commit(batchOf('after', [creationOf('after')]));
    expect(events).toEqual(['second', 'between', 'third']);
    expect(store.objects.size).toBe(objects + 1);
    expect(await namesInStore()).toEqual(['after', 'before']);
  });

  it('the client can be closed: commits in progress finish, queued ones are rejected', async () => {
    const backend = new ObjectTreeBackend(store);
    let rest: Promise<unknown> = Promise.resolve();
    const batch = batchAround(() => {
      const waiting = backend.commit(batchOf('waiting', [creationOf('waiting')]));
      rest = Promise.allSettled([waiting, backend.close()]);
    });
    expect(await backend.commit(batch)).toMatchObject({ kind: 'ok' });
    expect(events).toEqual(['second', 'between', 'third']);
    expect(await rest).toMatchObject([{ reason: { kind: 'closed' } }, { status: 'fulfilled' }]);
    expect(await namesInStore()).toEqual(['first', 'second', 'third']);
  });

  it('another commit of the client waits, and sees the result of this one', async () => {
    const backend = new ObjectTreeBackend(store);
    let next: Promise<unknown> = Promise.resolve();
    const batch = batchAround(() => {
      const check = { kind: 'entry', path: '/third', id: 'third' } as const;
      next = backend.commit(batchOf('next', [creationOf('next')], [check]));
    });
    expect(await backend.commit(batch)).toMatchObject({ kind: 'ok' });
    expect(events).toEqual(['second', 'between', 'third']);
    expect(await next).toMatchObject({ kind: 'ok' });
    expect(await namesInStore()).toEqual(['first', 'next', 'second', 'third']);
  });

  it('another client can commit: then this one is prepared again on the new state', async () => {
    let committed: Promise<unknown> = Promise.resolve();
    const backend = new ObjectTreeBackend(swappingAfter(() => committed));
    await backend.commit(batchOf('before', [creationOf('before')]));
    const batch = batchAround(() => {
      committed = new ObjectTreeBackend(store).commit(batchOf('other', [creationOf('other')]));
    });
    expect(await backend.commit(batch)).toMatchObject({ kind: 'ok' });
    expect(events).toEqual(['second', 'between', 'third', 'second', 'third']);
    expect(await namesInStore()).toEqual(['before', 'first', 'other', 'second', 'third']);
  });

  it('a refused batch leaves the other batches of its commit unchanged', async () => {
    const backend = new ObjectTreeBackend(store);
    const [before, refused, after] = await Promise.all([
      backend.commit(batchOf('before', [creationOf('before')])),
      backend.commit(batchAround(() => {}, { maxTotalSize: 3 })),
      backend.commit(batchOf('after', [creationOf('after')], [{ kind: 'entry', path: '/first', id: null }])),
    ]);
    expect(events).toContain('between');
    expect([before, refused, after]).toMatchObject([{ kind: 'ok' }, { kind: 'limit', used: 1 }, { kind: 'ok' }]);
    expect(await namesInStore()).toEqual(['after', 'before']);
  });
});
