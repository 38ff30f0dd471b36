import { describe, expect, test } from 'vitest';
import { asyncStorage, backendOf } from '../async-storage.js';
import type { Backend, LoadRequest } from '../backend.js';
import { openFileSystem } from '../create-file-system.js';
import { diff, diffSync, formatDiff, formatDiffSync } from '../diff.js';
import { rootMeta } from '../engine/defaults.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { ExecutorSyncStorage } from '../executor-storage.js';

const clock = () => 0;
const newStorage = () => new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), clock);

/** A backend that records its loads. */
function watched(backend: Backend): { readonly backend: Backend; readonly loads: (readonly LoadRequest[])[] } {
  const loads: (readonly LoadRequest[])[] = [];
  const { checkpointStore } = backend;
  if (checkpointStore === undefined) throw new Error('the backend in memory keeps states');
  return {
    loads,
    backend: {
      capabilities: backend.capabilities,
      load: (requests, call) => {
        loads.push(requests);
        return backend.load(requests, call);
      },
      commit: (batch, call) => backend.commit(batch, call),
      outcome: (id, call) => backend.outcome(id, call),
      close: () => backend.close(),
      checkpointStore: {
        create: (...args) => checkpointStore.create(...args),
        list: (call) => checkpointStore.list(call),
        restore: (...args) => checkpointStore.restore(...args),
        drop: (id, call) => checkpointStore.drop(id, call),
        load: (id, requests, call) => {
          loads.push(requests);
          return checkpointStore.load(id, requests, call);
        },
      },
    },
  };
}

describe('diff of states on a remote storage', () => {
  test('finds the same changes as in memory', async () => {
    const near = openFileSystem(newStorage(), { clock });
    const far = await openFileSystem(asyncStorage(backendOf(newStorage()), { clock }), { clock });
    const before = [];
    const after = [];
    for (const fs of [near, far]) {
      await fs.mkdir('/a/deep', { recursive: true });
      await fs.writeFile('/a/deep/x', 'one\n');
      await fs.writeFile('/a/same', 'same');
      await fs.writeFile('/b', 'b');
      await fs.link('/b', '/a/linked');
      before.push(await fs.checkpoint('before'));
      await fs.writeFile('/a/deep/x', 'two\n');
      await fs.writeFile('/b', 'c');
      await fs.mkdir('/new/dir', { recursive: true });
      await fs.symlink('x', '/new/dir/link');
      await fs.chmod('/a/same', 0o600);
      after.push(await fs.checkpoint());
      await fs.rm('/a', { recursive: true });
    }
    for (const [from, to] of [
      [before, after],
      [after, before],
      [before, []],
      [[], after],
      [after, after],
    ] as const) {
      for (const contents of [false, true])
        expect(await diff(far, from[1], to[1], { contents })).toEqual(diffSync(near, from[0], to[0], { contents }));
      expect(await formatDiff(far, from[1], to[1])).toBe(formatDiffSync(near, from[0], to[0]));
    }
    expect((await diff(far, 'before')).removed.length).toBeGreaterThan(0);
    await far.drop('before');
    await expect(diff(far, before[1])).rejects.toThrow('ENOENT');
  });

  test('loads only the path to the changes, both sides of a level in one request each', async () => {
    const storage = newStorage();
    const near = openFileSystem(storage, { clock });
    for (let i = 0; i < 2000; i++) {
      const directory = `/d${i % 20}/e${i % 7}`;
      near.mkdirSync(directory, { recursive: true });
      near.writeFileSync(`${directory}/f${i}`, `content ${i}`);
    }
    const { backend, loads } = watched(backendOf(storage));
    const far = await openFileSystem(asyncStorage(backend, { clock }), { clock });
    const before = await far.checkpoint();
    await far.writeFile('/d3/e4/f123', 'other 123');
    await far.writeFile('/d5/e6/new', 'new');
    const after = await far.checkpoint();
    loads.length = 0;
    const { added, changed, removed } = await diff(far, before, after);
    expect([added, changed, removed].map((list) => list.map(({ path }) => path))).toEqual([
      ['/d5/e6/new'],
      ['/d3/e4/f123'],
      [],
    ]);
    // For each side: the root, and three levels of listings (the root's own, and two levels with two directories each).
    expect(loads).toHaveLength(2 * 4);
    expect(loads.flat()).toHaveLength(2 * (1 + 1 + 2 + 2));
  });

  test('loads only the two roots if nothing changed', async () => {
    const { backend, loads } = watched(backendOf(newStorage()));
    const far = await openFileSystem(asyncStorage(backend, { clock }), { clock });
    await far.writeFile('/f', 'x');
    const [a, b] = [await far.checkpoint(), await far.checkpoint()];
    loads.length = 0;
    expect(await diff(far, a, b)).toEqual({ added: [], removed: [], changed: [] });
    expect(loads).toHaveLength(2);
  });
});
