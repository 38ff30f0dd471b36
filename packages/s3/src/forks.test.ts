import { asyncStorage, type FileSystem, openFileSystem } from '@scratchfs/core';
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
});
