import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../async-storage.js';
import { type Backend, type LoadResult, type NodeRecord, UNKNOWN_VERSION } from '../backend.js';
import { openFileSystem } from '../create-file-system.js';
import { rootMeta } from './defaults.js';
import { MemoryExecutor } from './memory/memory-executor.js';
import { TreeBackend } from './tree-backend/tree-backend.js';

/** A backend that does not count the entries under a directory, like a disk. */
function uncounted(store: TreeBackend): Backend {
  const recordOf = (record: NodeRecord): NodeRecord => {
    if (record.directory === undefined) return record;
    const totals = { size: 0, files: 0, directories: 0, linked: 0 };
    return { ...record, directory: { ...record.directory, totals, tree: UNKNOWN_VERSION, counted: false } };
  };
  const factsOf = (result: LoadResult): LoadResult => {
    if (result.kind === 'path') return { ...result, nodes: result.nodes.map((node) => node && recordOf(node)) };
    if (result.kind === 'list')
      return { ...result, directory: recordOf(result.directory), nodes: result.nodes.map(recordOf) };
    if (result.kind !== 'tree') return result;
    const listings = result.listings.map((listing) => ({ ...listing, nodes: listing.nodes.map(recordOf) }));
    return { ...result, directory: recordOf(result.directory), listings };
  };
  return {
    capabilities: { checkpoints: false, forks: false, sharedWatch: false },
    load: async (requests, call) => (await store.load(requests, call)).map(factsOf),
    commit: (batch, call) => store.commit(batch, call),
    outcome: (id) => store.outcome(id),
    close: () => store.close(),
  };
}

describe('statistics over a storage that does not count', () => {
  it('count a file with several names once in size', async () => {
    const fs = await openFileSystem(asyncStorage(uncounted(new TreeBackend(MemoryExecutor.create(rootMeta(0))))));
    await fs.mkdir('/d');
    await fs.writeFile('/d/a', 'x'.repeat(40));
    await fs.writeFile('/b', 'y'.repeat(6));
    await fs.link('/d/a', '/d/b');
    await fs.link('/d/a', '/c');
    expect(await fs.stats()).toEqual({ totalSize: 46, fileCount: 4, directoryCount: 1, nodeCount: 5 });
    await fs.rm('/d', { recursive: true });
    expect((await fs.stats()).totalSize).toBe(46);
    await fs.rm('/c');
    expect((await fs.stats()).totalSize).toBe(6);
  });
});
