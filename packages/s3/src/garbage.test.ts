import { asyncStorage, type FileSystem, openFileSystem } from '@scratchfs/core';
import { type ObjectStore, ObjectTreeBackend, type ObjectTreeOptions } from '@scratchfs/core/object-tree';
import { describe, expect, it } from 'vitest';
import { MapStore } from './testing/map-store.js';

async function open(
  store: ObjectStore,
  options: ObjectTreeOptions = {},
): Promise<{ readonly fs: FileSystem; readonly backend: ObjectTreeBackend }> {
  const backend = new ObjectTreeBackend(store, options);
  return { backend, fs: await openFileSystem(asyncStorage(backend)) };
}

describe('Garbage that was found by a client whose clock is ahead', () => {
  /** A client whose clock can be set, beside which another has found garbage an hour ahead of it. */
  async function behind() {
    const store = new MapStore();
    let now = 1_000;
    const ahead = await open(store, { clock: () => 3_600_000 });
    await ahead.fs.writeFile('/a', 'a');
    await ahead.fs.writeFile('/a', 'b');
    const { waiting } = await ahead.backend.collectGarbage({ olderThanMs: 500 });
    const { backend } = await open(store, { clock: () => now });
    const pass = (ms: number): void => {
      now += ms;
    };
    return { store, backend, waiting, pass };
  }

  it('is deleted at once where none is to stay', async () => {
    const { backend, waiting } = await behind();
    expect(await backend.collectGarbage()).toMatchObject({ deleted: waiting, waiting: 0 });
  });

  it('stays as long as it is to, counted from when another found it too', async () => {
    const { store, backend, waiting, pass } = await behind();
    const collected = [];
    for (const ms of [0, 499, 1]) {
      pass(ms);
      const { deleted } = await backend.collectGarbage({ olderThanMs: 500 });
      collected.push(deleted);
    }
    expect(collected).toEqual([0, 0, waiting]);
    expect(waiting).toBeGreaterThan(0);
    expect([...store.objects.keys()].filter((name) => name.startsWith('trash/'))).toEqual([]);
  });
});
