import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../async-storage.js';
import type { Backend, Want } from '../backend.js';
import { openFileSystem } from '../create-file-system.js';
import type { FileSystem } from '../file-system.js';
import { rootMeta } from './defaults.js';
import { MemoryExecutor } from './memory-executor.js';
import { TreeBackend } from './tree-backend.js';

/** A client that knows nothing yet, of a storage that answers so many names at once; and its requests. */
async function far(paths: readonly string[], page = 5_000): Promise<{ fs: FileSystem; requests: Want[][] }> {
  const backend = new TreeBackend(MemoryExecutor.create(rootMeta(0)));
  await openFileSystem(asyncStorage(backend), { files: Object.fromEntries(paths.map((path) => [path, path])) });
  const requests: Want[][] = [];
  const paged: Backend = {
    capabilities: backend.capabilities,
    load: (wants, call) => {
      requests.push([...wants]);
      return backend.load(
        wants.map((want) => (want.kind === 'list' ? { ...want, limit: page } : want)),
        call,
      );
    },
    commit: (batch, call) => backend.commit(batch, call),
    outcome: (id) => backend.outcome(id),
    close: () => backend.close(),
  };
  return { fs: await openFileSystem(asyncStorage(paged)), requests };
}

const lists = (requests: readonly Want[][]): Want[] => requests.flat().filter(({ kind }) => kind === 'list');

describe('what is loaded of a far storage', () => {
  it.each([1, 2, 3, 7])('is a whole listing, also where it comes in pages of %i names', async (page) => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const { fs, requests } = await far(
      names.map((name) => `/d/${name}`),
      page,
    );
    expect(await fs.readdir('/d')).toEqual(names);
    expect(lists(requests).length).toBe(Math.ceil(names.length / page));
    requests.length = 0;
    expect(await fs.readdir('/d')).toEqual(names);
    expect(lists(requests)).toEqual([]);
  });

  it.each([2, 8, 9, 20])(
    'is of one moment with its %i directories where they are few, and confirmed otherwise',
    async (count) => {
      const paths = Array.from({ length: count }, (_, i) => `/from/d${i}/in/f`);
      const { fs, requests } = await far(paths);
      await fs.cp('/from', '/to', { recursive: true });
      for (const path of paths) expect(await fs.readText(path.replace('/from', '/to'))).toBe(path);
      expect(requests.length).toBeLessThan(10 + count);
    },
  );
});
