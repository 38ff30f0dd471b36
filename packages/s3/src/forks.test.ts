import { asyncStorage, type Batch, type FileSystem, openFileSystem } from '@scratchfs/core';
import { type ObjectStore, ObjectTreeBackend, type ObjectTreeOptions } from '@scratchfs/core/object-tree';
import { describe, expect, it } from 'vitest';
import { altered } from './testing/altered-store.js';
import { MapStore } from './testing/map-store.js';

async function open(
  store: ObjectStore,
  options: ObjectTreeOptions = {},
): Promise<{ readonly fs: FileSystem; readonly backend: ObjectTreeBackend }> {
  const backend = new ObjectTreeBackend(store, options);
  return { backend, fs: await openFileSystem(asyncStorage(backend, { retries: 0 })) };
}

describe('A fork of a fork', () => {
  it('keeps what it puts while a collector is at work that had read the head before', async () => {
    const store = new MapStore();
    const { fs, backend } = await open(store, { maxCacheBytes: 0 });
    await fs.writeFile('/a', 'a');
    const fork = await fs.fork();
    await backend.collectGarbage();
    let nested: FileSystem | undefined;
    const late = altered(store, {
      list: async (...what) => {
        if (nested === undefined) {
          nested = await fork.fork();
          await nested.writeFile('/b', 'b');
        }
        return store.list(...what);
      },
    });
    await new ObjectTreeBackend(late).collectGarbage();
    expect(await nested?.readText('/b')).toBe('b');
  });

  it('can be forked again, fifty times over, and each writes for itself', async () => {
    const { fs } = await open(new MapStore());
    await fs.writeFile('/a', '0');
    const forks = [fs];
    for (let depth = 1; depth <= 50; depth++) {
      const fork = (await forks.at(-1)?.fork()) ?? fs;
      await fork.writeFile('/a', `${depth}`);
      await fork.appendFile('/a', '!');
      forks.push(fork);
    }
    const texts = await Promise.all(forks.map((fork) => fork.readText('/a')));
    expect(texts).toEqual(forks.map((_, depth) => (depth === 0 ? '0' : `${depth}!`)));
  });

  it('brings together what the forks before it have scattered, whatever lines of commits were drawn', async () => {
    for (const lines of [
      [3, 1, 2],
      [2, 3, 1],
    ]) {
      const random = (below: number): number =>
        below > 2 ** 19 ? (lines.shift() ?? 0) : Math.floor(Math.random() * below);
      let { fs } = await open(new MapStore(), { random });
      for (let depth = 0; depth < 4; depth++) {
        if (depth > 0) fs = await fs.fork();
        for (let i = 0; i < 70; i++) await fs.writeFile(`/f${depth}.${i}`, `${depth} ${i}`);
      }
      const names = await fs.readdir('/');
      expect(names.length).toBe(4 * 70);
      for (const name of names) expect(await fs.readText(`/${name}`)).toBe(name.slice(1).replace('.', ' '));
    }
  });

  it('draws another line of commits than the one it was forked from: what both change differs', async () => {
    const random = (below: number): number => (below > 2 ** 17 ? 4 : Math.floor(Math.random() * below));
    const { fs, backend } = await open(new MapStore(), { random });
    await fs.writeFile('/a', '');
    const fork = await backend.fork();
    const nested = await fork.fork?.();
    const write: Batch = { operationId: 'x', checks: [], writes: [{ kind: 'touch', path: '/', time: 1 }], limits: {} };
    const first = await fork.commit(write);
    expect(first.kind).toBe('ok');
    expect(await nested?.commit(write)).not.toEqual(first);
  });
});
