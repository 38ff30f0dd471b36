import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../async-storage.js';
import type { Backend, Batch, LoadRequest } from '../backend.js';
import { openFileSystem } from '../create-file-system.js';
import { rootMeta } from '../engine/defaults.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { PREFETCH_BYTES } from '../engine/remote/prefetch.js';
import { TreeBackend } from '../engine/tree-backend/tree-backend.js';
import { ExecutorSyncStorage } from '../executor-storage.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import type { Limits } from '../limits.js';
import { createSnapshot, createSnapshotSync } from './create-snapshot.js';
import { restoreSnapshot, restoreSnapshotSync } from './restore-snapshot.js';

const clock = () => 1_700_000_000_000;

function near(): SyncFileSystem {
  return openFileSystem(new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(5)), clock), { clock });
}

interface Far {
  readonly fs: FileSystem;
  readonly backend: Backend;
  readonly loads: (readonly LoadRequest[])[];
  readonly commits: Batch[];
  /** Called before each load. */
  onLoad: (() => Promise<void>) | undefined;
}

/** Returns a filesystem on a remote storage that records its requests. */
async function far(limits: Limits = {}): Promise<Far> {
  const backend = new TreeBackend(MemoryExecutor.create(rootMeta(5)));
  const loads: (readonly LoadRequest[])[] = [];
  const commits: Batch[] = [];
  const seen: Far = { fs: undefined as unknown as FileSystem, backend, loads, commits, onLoad: undefined };
  const counting: Backend = new Proxy<Backend>(backend, {
    get(target, key) {
      if (key === 'load') {
        return async (...args: Parameters<Backend['load']>) => {
          await new Promise((resolve) => setTimeout(resolve, 0));
          loads.push(args[0]);
          await seen.onLoad?.();
          return target.load(...args);
        };
      }
      if (key === 'commit') {
        return (...args: Parameters<Backend['commit']>) => {
          commits.push(args[0]);
          return target.commit(...args);
        };
      }
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const fs = await openFileSystem(asyncStorage(counting), { clock, limits });
  return Object.assign(seen, { fs });
}

function fill(fs: SyncFileSystem): Uint8Array<ArrayBuffer> {
  for (let d = 0; d < 10; d++) {
    fs.mkdirSync(`/d${d}/e/f`, { recursive: true });
    for (let i = 0; i < 20; i++) fs.writeFileSync(`/d${d}/e/file-${i}`, `content ${d} ${i}`);
    fs.linkSync(`/d${d}/e/file-1`, `/d${d}/second`);
    fs.symlinkSync('e/file-0', `/d${d}/link`);
  }
  fs.writeFileSync('/large', new Uint8Array(300_000).fill(3));
  fs.writeFileSync('/empty', '');
  fs.linkSync('/d0/link', '/d1/same-link');
  fs.chmodSync('/d3', 0o700);
  return createSnapshotSync(fs);
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

describe('on a remote storage, a snapshot', () => {
  it('is restored as one batch, and has the same bytes as in memory', async () => {
    const bytes = fill(near());
    const { fs, backend, commits } = await far();
    await fs.writeFile('/extra', 'goes');
    commits.length = 0;
    await restoreSnapshot(fs, bytes);
    expect(commits.filter((batch) => batch.writes.length > 0)).toHaveLength(1);
    expect(await fs.exists('/extra')).toBe(false);
    expect(same(await createSnapshot(fs), bytes)).toBe(true);
    const fresh = await openFileSystem(asyncStorage(backend), { clock });
    expect(same(await createSnapshot(fresh), bytes)).toBe(true);
    expect((await fresh.stat('/d4/second')).nlink).toBe(2);
    const copy = near();
    restoreSnapshotSync(copy, await createSnapshot(fresh));
    expect(same(createSnapshotSync(copy), bytes)).toBe(true);
  });

  it('leaves a filesystem that works as before', async () => {
    const bytes = fill(near());
    const { fs, backend } = await far();
    await restoreSnapshot(fs, bytes, { adopt: true });
    await fs.appendFile('/large', 'tail');
    await fs.writeFile('/d0/second', 'changed');
    expect(await fs.readText('/d0/e/file-1')).toBe('changed');
    await fs.rm('/d9', { recursive: true });
    const fresh = await openFileSystem(asyncStorage(backend), { clock });
    expect((await fresh.stat('/large')).size).toBe(300_004);
    expect(await fresh.readText('/d0/e/file-1')).toBe('changed');
    expect(await fresh.stats()).toEqual(await fs.stats());
  });

  it('is read in few requests', async () => {
    const { fs, backend } = await far();
    await restoreSnapshot(fs, fill(near()));
    const loads: number[] = [];
    const counting: Backend = Object.assign(Object.create(backend) as Backend, {
      load: (...args: Parameters<Backend['load']>) => {
        loads.push(args[0].length);
        return backend.load(...args);
      },
      commit: (...args: Parameters<Backend['commit']>) => backend.commit(...args),
      close: () => backend.close(),
    });
    const fresh = await openFileSystem(asyncStorage(counting), { clock });
    await createSnapshot(fresh);
    expect(loads.length).toBeLessThanOrEqual(4);
  });

  it('with more content than is loaded ahead is read in portions', async () => {
    const before = near();
    for (let i = 0; i < 12; i++) before.writeFileSync(`/file-${i}`, new Uint8Array(2 ** 21).fill(i + 1));
    const bytes = createSnapshotSync(before);
    const { fs, backend, loads } = await far();
    await restoreSnapshot(fs, bytes);
    const fresh = await far();
    Object.assign(fresh.backend, { load: backend.load.bind(backend), commit: backend.commit.bind(backend) });
    loads.length = 0;
    expect(same(await createSnapshot(fresh.fs), bytes)).toBe(true);
    const asked = fresh.loads.map((requests) =>
      requests.reduce((sum, request) => sum + (request.kind === 'content' ? request.length : 0), 0),
    );
    expect(Math.max(...asked)).toBeGreaterThan(2 ** 22);
    expect(Math.max(...asked)).toBeLessThanOrEqual(PREFETCH_BYTES);
  });

  it('shows one state while other clients write', async () => {
    const state = await far();
    await restoreSnapshot(state.fs, fill(near()));
    const writer = await openFileSystem(asyncStorage(state.backend), { clock });
    await writer.writeFile('/a', '0');
    await writer.writeFile('/z', '0');
    let count = 0;
    let writes = 0;
    state.onLoad = async () => {
      if (count >= 5) return;
      count += 1;
      writes += 1;
      await writer.transaction(async (inside) => {
        await inside.writeFile('/a', `${writes}`);
        await inside.writeFile('/z', `${writes}`);
      });
    };
    for (let round = 0; round < 10; round++) {
      count = 0;
      await writer.writeFile('/d5/e/file-3', `${round}`);
      const copy = near();
      restoreSnapshotSync(copy, await createSnapshot(state.fs));
      expect(copy.readTextSync('/a')).toBe(copy.readTextSync('/z'));
    }
    expect(writes).toBeGreaterThan(10);
  });

  it('that exceeds a limit is refused as a whole', async () => {
    const bytes = fill(near());
    const { fs, commits } = await far({ maxNodeCount: 10 });
    await fs.writeFile('/kept', 'x');
    commits.length = 0;
    await expect(restoreSnapshot(fs, bytes)).rejects.toMatchObject({ code: 'ENOSPC', limit: 'maxNodeCount', used: 1 });
    expect(commits.filter((batch) => batch.writes.length > 0)).toHaveLength(0);
    expect(await fs.readdir('/')).toEqual(['kept']);
  });

  it('can be made and restored inside a transaction', async () => {
    const bytes = fill(near());
    const { fs } = await far();
    await fs.transaction(async (inside) => {
      await restoreSnapshot(inside, bytes);
      expect(same(await createSnapshot(inside), bytes)).toBe(true);
    });
    expect(same(await createSnapshot(fs), bytes)).toBe(true);
  });

  it('inside a transaction contains the changes made there', async () => {
    const { fs } = await far();
    await fs.mkdir('/d');
    await fs.writeFile('/d/before', 'was there');
    const bytes = await fs.transaction(async (tx) => {
      await tx.writeFile('/d/new', 'is new');
      await tx.writeFile('/d/before', 'is other');
      return createSnapshot(tx);
    });
    const copy = near();
    restoreSnapshotSync(copy, bytes);
    expect([copy.readTextSync('/d/new'), copy.readTextSync('/d/before')]).toEqual(['is new', 'is other']);
    expect(same(await createSnapshot(fs), bytes)).toBe(true);
  });

  it('of a closed filesystem is refused', async () => {
    const { fs } = await far();
    const bytes = await createSnapshot(fs);
    await fs.close();
    await expect(createSnapshot(fs)).rejects.toMatchObject({ code: 'EBADF' });
    await expect(restoreSnapshot(fs, bytes)).rejects.toMatchObject({ code: 'EBADF' });
  });
});
