import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../../async-storage.js';
import type { Backend } from '../../backend.js';
import { openFileSystem } from '../../create-file-system.js';
import type { FileSystem } from '../../file-system.js';
import { grep } from '../../search.js';
import { rootMeta } from '../defaults.js';
import { MemoryExecutor } from '../memory/memory-executor.js';
import { TreeBackend } from '../tree-backend/tree-backend.js';

/**
 * Two clients of one storage. `requests` are those of the first; `afterLoad` adds work that runs once, after its next
 * load.
 */
async function clients(): Promise<{
  mine: FileSystem;
  other: FileSystem;
  requests: string[];
  afterLoad: (work: () => Promise<unknown>) => void;
}> {
  const store = new TreeBackend(MemoryExecutor.create(rootMeta(0)));
  const requests: string[] = [];
  const works: (() => Promise<unknown>)[] = [];
  const watched: Backend = {
    capabilities: store.capabilities,
    checkpointStore: store.checkpointStore,
    async load(loadRequests, call) {
      requests.push(`load ${loadRequests.map(({ kind }) => kind)}`);
      const results = await store.load(loadRequests, call);
      await works.shift()?.();
      return results;
    },
    commit: (batch, call) => {
      requests.push('commit');
      return store.commit(batch, call);
    },
    outcome: (id) => store.outcome(id),
    close: () => store.close(),
  };
  const mine = await openFileSystem(asyncStorage(watched));
  const other = await openFileSystem(asyncStorage(store));
  return { mine, other, requests, afterLoad: (work) => works.push(work) };
}

async function paths(items: AsyncIterable<{ readonly path: string }>): Promise<string[]> {
  const found: string[] = [];
  for await (const { path } of items) found.push(path);
  return found;
}

describe('a walk on a remote storage', () => {
  it('sees what another client has changed since the last one', async () => {
    const { mine, other } = await clients();
    await mine.writeFile('/a', '1');
    expect(await paths(mine.walk('/'))).toEqual(['/a']);
    await other.writeFile('/b', '2');
    await other.rm('/a');
    expect(await paths(mine.walk('/'))).toEqual(['/b']);
  });

  it('keeps the cache of other operations, and adds to it what it has loaded', async () => {
    const { mine, requests } = await clients();
    await mine.mkdir('/x');
    await mine.mkdir('/y');
    await mine.writeFile('/x/f', '1');
    await mine.writeFile('/y/f', '1');
    await mine.readFile('/x/f');
    await paths(mine.walk('/y'));
    requests.length = 0;
    await mine.writeFile('/x/f', '2');
    await mine.writeFile('/y/f', '2');
    expect(requests).toEqual(['commit', 'commit']);
  });

  it('shows one state, its start included', async () => {
    const { mine, other, afterLoad, requests } = await clients();
    await mine.mkdir('/a');
    await mine.mkdir('/b');
    await mine.writeFile('/a/old', '');
    requests.length = 0;
    // Between finding the start and listing it, another directory takes the name.
    afterLoad(async () => {
      await other.rename('/a', '/b/a');
      await other.writeFile('/b/a/late', '');
      await other.mkdir('/a');
      await other.writeFile('/a/new', '');
    });
    expect(await paths(mine.walk('/a'))).toEqual(['/a/new']);
  });

  it('has the links on its path confirmed', async () => {
    const { mine, other, afterLoad, requests } = await clients();
    await mine.mkdir('/a');
    await mine.mkdir('/b');
    await mine.writeFile('/a/x', '');
    await mine.writeFile('/b/y', '');
    await mine.symlink('/a', '/l');
    requests.length = 0;
    afterLoad(async () => {
      await other.unlink('/l');
      await other.symlink('/b', '/l');
      await other.rm('/a/x');
    });
    // Neither link ever led to an empty directory.
    expect(await paths(mine.walk('/l'))).toEqual(['/b/y']);
    expect(requests).toContain('commit');
  });

  it('reports its start as missing only if it was missing in one state', async () => {
    const { mine, other, afterLoad } = await clients();
    await mine.mkdir('/a');
    await mine.symlink('/a', '/l');
    afterLoad(async () => {
      await other.mkdir('/b');
      await other.unlink('/l');
      await other.symlink('/b', '/l');
      await other.rmdir('/a');
    });
    expect(await paths(mine.walk('/l'))).toEqual([]);
  });
});

describe('a recursive listing on a remote storage', () => {
  it('finds a directory where this client last saw nothing', async () => {
    const { mine, other } = await clients();
    expect(await mine.exists('/a')).toBe(false);
    await other.mkdir('/a');
    await other.writeFile('/a/f', '');
    expect(await mine.readdir('/a', { recursive: true })).toEqual(['f']);
  });

  it('finds a directory where this client last saw a file', async () => {
    const { mine, other } = await clients();
    await mine.writeFile('/a', '');
    await other.rm('/a');
    await other.mkdir('/a/b', { recursive: true });
    expect(await mine.readdir('/a', { recursive: true })).toEqual(['b']);
  });

  it('reports a missing directory', async () => {
    const { mine } = await clients();
    await expect(mine.readdir('/a', { recursive: true })).rejects.toThrow('ENOENT');
  });
});

describe('grep on a remote storage', () => {
  it('searches the latest content of a file that another client changes, and skips a removed one', async () => {
    const { mine, other, afterLoad } = await clients();
    await mine.mkdir('/d');
    for (const name of ['a', 'b', 'c']) await mine.writeFile(`/d/${name}.ts`, 'needle\n');
    const changes = async (): Promise<void> => {
      await other.writeFile('/d/a.ts', 'no more\n');
      await other.writeFile('/d/b.ts', 'still a needle\n');
      await other.rm('/d/c.ts');
    };
    // The changes follow the second load.
    afterLoad(async () => {});
    afterLoad(changes);
    const found = grep(mine, 'needle', { paths: '/d', glob: '*.ts' });
    expect(await paths(found)).toEqual(['/d/b.ts']);
  });

  it('searches all files of a directory in one state', async () => {
    const { mine, other, afterLoad } = await clients();
    await mine.mkdir('/d');
    for (const name of ['a', 'b']) await mine.writeFile(`/d/${name}`, 'needle\n');
    afterLoad(async () => {});
    afterLoad(async () => {
      await other.writeFile('/d/a', '');
      await other.writeFile('/d/b', '');
    });
    expect(await paths(grep(mine, 'needle', { paths: '/d' }))).toEqual(['/d/a', '/d/b']);
  });

  it('keeps no content for later reads, which load it in a single request', async () => {
    const { mine, other, requests } = await clients();
    await other.mkdir('/d');
    for (const name of ['a', 'b']) await other.writeFile(`/d/${name}`, 'needle\n');
    expect(await paths(grep(mine, 'needle', { paths: '/d' }))).toEqual(['/d/a', '/d/b']);
    requests.length = 0;
    expect(await mine.readText('/d/a')).toBe('needle\n');
    expect(requests).toEqual(['load path,content']);
  });

  it('lets go of each content in a transaction once it has searched it', async () => {
    const { mine, requests } = await clients();
    await mine.mkdir('/d');
    for (const name of ['a', 'b']) await mine.writeFile(`/d/${name}`, 'needle\n');
    await mine.transaction(async (inside) => {
      expect(await paths(grep(inside, 'needle', { paths: '/d' }))).toEqual(['/d/a', '/d/b']);
      requests.length = 0;
      await inside.readText('/d/a');
      expect(requests).toEqual(['load content']);
    });
  });

  it.each([
    ['small', 8],
    ['large', 1_500_000],
  ])('searches a %s file under each of its names', async (_size, bytes) => {
    const { mine } = await clients();
    await mine.writeFile('/0', `needle\n${'\n'.repeat(bytes - 7)}`);
    for (let i = 1; i < 20; i++) await mine.link('/0', `/${i}`);
    expect((await paths(grep(mine, 'needle'))).length).toBe(20);
  });
});
