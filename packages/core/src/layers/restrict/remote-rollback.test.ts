import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../../async-storage.js';
import type { Backend } from '../../backend.js';
import { openFileSystem } from '../../create-file-system.js';
import { rootMeta } from '../../engine/defaults.js';
import { MemoryExecutor } from '../../engine/memory/memory-executor.js';
import { TreeBackend } from '../../engine/tree-backend/tree-backend.js';
import type { FileSystem } from '../../file-system.js';
import { Refused, SampleGuard } from '../../testing/sample-guard.js';
import { restrict } from '../restrict.js';

const AREAS = [
  { root: '/work', read: true, write: true },
  { root: '/other', read: true, write: false },
];

/**
 * Opens a restricted and an unrestricted client of one storage; `beforeCommit` runs once, before the restricted one's
 * next batch with writes.
 */
async function open(): Promise<{
  fs: FileSystem;
  other: FileSystem;
  loads: string[];
  beforeCommit: (work: () => Promise<unknown>) => void;
}> {
  const store = new TreeBackend(MemoryExecutor.create(rootMeta(0)));
  const works: (() => Promise<unknown>)[] = [];
  const loads: string[] = [];
  const { checkpointStore } = store;
  const watched: Backend = {
    capabilities: store.capabilities,
    checkpointStore: {
      create: (...args) => checkpointStore.create(...args),
      list: (call) => checkpointStore.list(call),
      restore: (id, limits, call) => checkpointStore.restore(id, limits, call),
      drop: (id, call) => checkpointStore.drop(id, call),
      load: (id, requests, call) => {
        loads.push(`kept ${requests.map(({ kind }) => kind)}`);
        return checkpointStore.load(id, requests, call);
      },
    },
    load: (requests, call) => {
      loads.push(`now ${requests.map(({ kind }) => kind)}`);
      return store.load(requests, call);
    },
    commit: async (batch, call) => {
      if (batch.writes.length > 0) await works.shift()?.();
      return store.commit(batch, call);
    },
    outcome: (id) => store.outcome(id),
    close: () => store.close(),
  };
  const other = await openFileSystem(asyncStorage(store));
  for (const path of ['/work/a', '/work/b', '/other']) {
    await other.mkdir(path, { recursive: true });
    for (let i = 0; i < 20; i++) await other.writeFile(`${path}/${i}`, 'before');
  }
  const far = await openFileSystem(asyncStorage(watched));
  return { fs: restrict(far, new SampleGuard(AREAS)), other, loads, beforeCommit: (work) => works.push(work) };
}

describe('a rollback through a restricted view of a remote storage', () => {
  it('also restores what another client changes during it, even if nothing differed before', async () => {
    const { fs, other, beforeCommit } = await open();
    const before = await fs.checkpoint();
    await fs.writeFile('/work/a/1', 'changed');
    beforeCommit(() => other.writeFile('/work/b/1', 'late'));
    await fs.rollback(before);
    expect(await other.readText('/work/a/1')).toBe('before');
    expect(await other.readText('/work/b/1')).toBe('before');
  });

  it('changes nothing if another client changes an entry during it that may not be written', async () => {
    const { fs, other, beforeCommit } = await open();
    const before = await fs.checkpoint();
    await fs.writeFile('/work/a/1', 'changed');
    beforeCommit(() => other.writeFile('/other/1', 'late'));
    await expect(fs.rollback(before)).rejects.toBeInstanceOf(Refused);
    expect(await other.readText('/work/a/1')).toBe('changed');
    expect(await other.readText('/other/1')).toBe('late');
  });

  it('loads only what differs', async () => {
    const { fs, loads } = await open();
    const before = await fs.checkpoint();
    await fs.writeFile('/work/a/1', 'changed');
    loads.length = 0;
    await fs.rollback(before);
    expect(loads.filter((load) => load.includes('content')).length).toBeLessThanOrEqual(1);
    expect(loads.length).toBeLessThanOrEqual(10);
  });
});
