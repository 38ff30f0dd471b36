import { describe, expect, it } from 'vitest';
import { asyncForm, asyncStorage } from './async-storage.js';
import type { Backend } from './backend.js';
import { openFileSystem, openInMemory } from './create-file-system.js';
import { FsError, StorageError } from './errors.js';
import type { FileSystem, SyncFileSystem } from './file-system.js';
import { mount } from './layers/mount.js';
import { observe } from './layers/observe.js';
import { overlay } from './layers/overlay.js';
import { readonly } from './layers/readonly.js';
import { restrict } from './layers/restrict.js';
import type { Limits } from './limits.js';
import { MemoryStorage } from './memory-storage.js';
import { createSnapshot, restoreSnapshot } from './snapshot.js';
import type { Storage } from './storage.js';
import { changedBackend, sampleBackend } from './testing/sample-backend.js';
import { SampleGuard } from './testing/sample-guard.js';
import { openWorkingCopy } from './working-copy/open-working-copy.js';

const FULL = { code: 'ENOSPC', limit: 'maxTotalSize', used: 900, requested: 1800, allowed: 1000 };

describe('limits of a storage in memory', () => {
  it('hold for every filesystem on it, in both forms, and are shown by all', async () => {
    const storage = new MemoryStorage();
    const a = openFileSystem(storage, { limits: { maxTotalSize: 1000 } });
    const b = openFileSystem(storage);
    const far = await openFileSystem(asyncForm(storage), { limits: 'stored' });
    a.writeFileSync('/a', 'x'.repeat(900));
    for (const fs of [a, b])
      expect(() => fs.writeFileSync('/b', 'x'.repeat(900))).toThrow(expect.objectContaining(FULL));
    for (const fs of [a, b, far]) {
      expect(fs.limits).toEqual({ maxTotalSize: 1000 });
      await expect(fs.writeFile('/b', 'x'.repeat(900))).rejects.toMatchObject(FULL);
    }
    expect(() => storage.set({ path: '/b', kind: 'file', content: 'x'.repeat(900) })).toThrow(
      expect.objectContaining(FULL),
    );
  });

  it('must be the stored ones when a filesystem is opened', () => {
    const storage = new MemoryStorage();
    openFileSystem(storage, { limits: {} });
    openFileSystem(storage, { limits: { maxTotalSize: 1000 } });
    openFileSystem(storage, { limits: { maxTotalSize: 1000 } });
    expect(() => openFileSystem(storage, { limits: { maxTotalSize: 5, maxNodeCount: 6 } })).toThrow(
      expect.objectContaining({
        code: 'EINVAL',
        message:
          'EINVAL: invalid argument, open. The stored limits are {"maxTotalSize":1000}, not ' +
          '{"maxTotalSize":5,"maxNodeCount":6}: open with limits: \'stored\', then call setLimits',
      }),
    );
    expect(openInMemory({ limits: 'stored' }).limits).toEqual({});
  });

  it.each<[string, () => Storage]>([
    ['memory', () => new MemoryStorage()],
    ['async memory', () => asyncForm(new MemoryStorage())],
    ['a backend without a limit store', () => asyncStorage(changedBackend(sampleBackend(), {}))],
  ])('of %s are not left behind by an opening whose files are refused', async (_, make) => {
    const storage = make();
    const open = async (limits: Limits, files: Record<string, string>) => openFileSystem(storage, { limits, files });
    await expect(open({ maxTotalSize: 1 }, { '/a': '1234' })).rejects.toMatchObject({ code: 'ENOSPC' });
    await expect(open({ maxNodeCount: 9 }, { '/a': '', '/a/b': '' })).rejects.toThrow();
    expect((await openFileSystem(storage)).limits).toEqual({});
    const fs = await open({ maxTotalSize: 4 }, { '/a': '1234' });
    await expect(open({ maxTotalSize: 4 }, { '/b': 'x' })).rejects.toMatchObject({ code: 'ENOSPC' });
    expect([fs.limits, await fs.readText('/a')]).toEqual([{ maxTotalSize: 4 }, '1234']);
  });

  it('are changed by setLimits for all; lowered ones refuse growth only', async () => {
    const storage = new MemoryStorage();
    const [a, b] = [openFileSystem(storage, { limits: { maxTotalSize: 10 } }), openFileSystem(storage)];
    a.writeFileSync('/f', '1234567890');
    b.setLimitsSync({ maxTotalSize: 5, maxNodeCount: 1 });
    expect(a.limits).toEqual({ maxTotalSize: 5, maxNodeCount: 1 });
    expect(() => a.appendFileSync('/f', 'x')).toThrow(expect.objectContaining({ used: 10, requested: 11, allowed: 5 }));
    a.truncateSync('/f', 6);
    await a.setLimits({});
    b.writeFileSync('/g', 'x'.repeat(100));
    expect([a.limits, b.limits]).toEqual([{}, {}]);
  });

  it('refuse values that are not limits, and keep the old ones', async () => {
    const fs = openInMemory({ limits: { maxTotalSize: 10 } });
    const values: unknown[] = [undefined, null, 'stored', 5, [], { maxSize: 1 }];
    for (const value of values) {
      expect(() => fs.setLimitsSync(value as Limits)).toThrow(TypeError);
      await expect(fs.setLimits(value as Limits)).rejects.toThrow(TypeError);
    }
    expect(() => fs.setLimitsSync({ maxTotalSize: -1 })).toThrow(RangeError);
    await expect(fs.setLimits({}, { signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow('stop');
    expect(fs.limits).toEqual({ maxTotalSize: 10 });
  });

  it('are kept by a fork, and independent of it from then on', async () => {
    const fs = openInMemory({ limits: { maxTotalSize: 10 } });
    const forks = [fs.forkSync(), await fs.fork()];
    fs.setLimitsSync({});
    for (const fork of forks) {
      expect(fork.limits).toEqual({ maxTotalSize: 10 });
      fork.setLimitsSync({ maxTotalSize: 11 });
      expect(() => fork.writeFileSync('/f', 'x'.repeat(12))).toThrow(expect.objectContaining({ allowed: 11 }));
    }
    expect(fs.limits).toEqual({});
  });

  it('cannot be changed on what at() returned, and the error says where they can', async () => {
    const fs = openInMemory();
    const hint = /Layers and at\(\) cannot change limits: use the filesystem under them/;
    expect(() => fs.atSync(fs.checkpointSync()).setLimitsSync({})).toThrow(hint);
    const held = await fs.at(await fs.checkpoint());
    await expect(held.setLimits({})).rejects.toThrow(hint);
  });

  it('are not changed by a rollback', () => {
    const fs = openInMemory();
    const before = fs.checkpointSync();
    fs.setLimitsSync({ maxTotalSize: 10 });
    fs.rollbackSync(before);
    expect(fs.limits).toEqual({ maxTotalSize: 10 });
  });

  it('cannot be changed inside a transaction, nor outside a synchronous one while it runs', async () => {
    const fs = openInMemory({ limits: { maxTotalSize: 10 } });
    const outside = { code: 'EBUSY' };
    fs.transactionSync((inside) => {
      expect(() => inside.setLimitsSync({})).toThrow(expect.objectContaining({ code: 'EINVAL' }));
      expect(() => fs.setLimitsSync({})).toThrow(expect.objectContaining(outside));
    });
    await fs.transaction(async (inside) => {
      await expect(inside.setLimits({})).rejects.toMatchObject({ code: 'EINVAL' });
    });
    expect(fs.limits).toEqual({ maxTotalSize: 10 });
  });

  it('that change during a transaction hold at its end', async () => {
    const fs = openInMemory();
    const handle = fs.openSync('/open', 'w+');
    let runs = 0;
    const grow = (size: number, limits: Limits) =>
      fs.transaction(async (inside) => {
        runs += 1;
        await inside.writeFile('/f', 'x'.repeat(size));
        if (runs % 2 === 1) fs.setLimitsSync(limits);
      });
    await expect(grow(5, { maxTotalSize: 4 })).rejects.toMatchObject({ code: 'ENOSPC', allowed: 4 });
    await expect(grow(4, { maxFileSize: 3 })).rejects.toMatchObject({ code: 'EFBIG', allowed: 3 });
    expect([runs, fs.existsSync('/f')]).toEqual([4, false]);
    handle.closeSync();
  });
});

describe('limits stored by an opening whose files are not stored', () => {
  it('stay if another client has replaced them, or if the storage failed', async () => {
    const backend = sampleBackend();
    const { limitStore } = backend;
    const commit = async (): Promise<never> => {
      await limitStore.set({ maxTotalSize: 2 });
      throw new FsError('ENOSPC');
    };
    const open = (change: Partial<Backend>) =>
      openFileSystem(asyncStorage(changedBackend(backend, { limitStore, ...change })), {
        limits: { maxTotalSize: 1 },
        files: { '/a': '' },
      });
    await expect(open({ commit })).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(await limitStore.open({})).toEqual({ maxTotalSize: 2 });
    await limitStore.set({});
    const failing = async (): Promise<never> => {
      throw new StorageError('unavailable', 'Not sent', { mayHaveHappened: false, retryable: false });
    };
    await expect(open({ commit: failing })).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await limitStore.open({})).toEqual({ maxTotalSize: 1 });
    await open({});
  });
});

describe('limits of a backend that does not store them', () => {
  it('hold for every filesystem on one storage', async () => {
    const storage = asyncStorage(changedBackend(sampleBackend(), {}));
    const a = await openFileSystem(storage, { limits: { maxTotalSize: 1000 } });
    const b = await openFileSystem(storage);
    await a.writeFile('/a', 'x'.repeat(900));
    await expect(b.writeFile('/b', 'x'.repeat(900))).rejects.toMatchObject(FULL);
    await expect(openFileSystem(storage, { limits: { maxTotalSize: 5 } })).rejects.toMatchObject({ code: 'EINVAL' });
    await b.setLimits({ maxTotalSize: 2000 });
    await a.writeFile('/b', 'x'.repeat(900));
  });
});

it.each([false, true])(
  'a limit that a transaction exceeds beside what another client has written fails in the call that exceeds it; conflict before: %s',
  async (hasConflict) => {
    const backend = sampleBackend();
    const fs = await openFileSystem(asyncStorage(backend), { limits: { maxTotalSize: 10 } });
    const other = await openFileSystem(asyncStorage(backend));
    await fs.stats();
    const seen: boolean[] = [];
    if (!hasConflict) await other.writeFile('/big', '12345678');
    const codes = await fs.transaction(async (inside) => {
      seen.push(await inside.exists('/empty'));
      if (hasConflict && seen.length === 1) {
        await other.writeFile('/empty', '');
        await other.writeFile('/big', '12345678');
      }
      return [
        await inside.writeFile('/a', '123').catch(({ code, used }) => [code, used]),
        await inside.writeFile('/b', '12'),
      ];
    });
    expect(seen).toEqual(hasConflict ? [false, true, true] : [false, false]);
    expect(codes[0]).toEqual(['ENOSPC', 8]);
    expect(await other.readdir('/')).toEqual(['b', 'big', ...(hasConflict ? ['empty'] : [])]);
  },
);

describe('limits that another client has changed', () => {
  const snapshotOf = (text: string) => createSnapshot(openInMemory({ files: { '/f': text } }));

  it('hold for a restored snapshot, also in a fork: raised ones allow it, lowered ones refuse it', async () => {
    const backend = sampleBackend();
    const fs = await openFileSystem(asyncStorage(backend), { limits: { maxTotalSize: 10 } });
    const other = await openFileSystem(asyncStorage(backend));
    const [long, short] = [await snapshotOf('x'.repeat(11)), await snapshotOf('12345')];
    await expect(restoreSnapshot(fs, long)).rejects.toMatchObject({ code: 'ENOSPC', allowed: 10 });
    const layers = [fs, observe(fs, ignore), restrict(fs, EVERYTHING), mount(fs, {})];
    for (const [i, one] of layers.entries()) {
      await other.setLimits({ maxTotalSize: 10 });
      await fs.writeFile('/f', String(i));
      await other.setLimits({ maxTotalSize: 11 });
      await restoreSnapshot(one, long);
      expect(await fs.readText('/f')).toBe('x'.repeat(11));
      await other.setLimits({ maxTotalSize: 4 });
      await expect(restoreSnapshot(one, short)).rejects.toMatchObject({ code: 'ENOSPC', allowed: 4 });
      expect(await fs.readText('/f')).toBe('x'.repeat(11));
    }
    await other.setLimits({ maxTotalSize: 10 });
    await fs.writeFile('/f', 'learns the limits'.slice(0, 5));
    await other.setLimits({ maxTotalSize: 11 });
    const fork = await fs.fork();
    await restoreSnapshot(fork, long);
    expect(await fork.readText('/f')).toBe('x'.repeat(11));
    await fork.close();
  });
});

describe('a working copy', () => {
  it('has the limits of its storage or its own, and pushes under the stored ones that hold then', async () => {
    const backend = sampleBackend();
    const storage = asyncStorage(backend);
    const fs = await openFileSystem(asyncStorage(backend), { limits: { maxTotalSize: 10 } });
    const [copy, own] = [
      await openWorkingCopy(storage),
      await openWorkingCopy(storage, { limits: { maxTotalSize: 12 } }),
    ];
    expect([copy.fileSystem.limits, own.fileSystem.limits]).toEqual([{ maxTotalSize: 10 }, { maxTotalSize: 12 }]);
    expect(fs.limits).toEqual({ maxTotalSize: 10 });
    for (const [{ fileSystem }, allowed] of [[copy, 10] as const, [own, 12] as const]) {
      expect(() => fileSystem.writeFileSync('/f', 'x'.repeat(13))).toThrow(expect.objectContaining({ allowed }));
      expect(() => fileSystem.setLimitsSync({})).toThrow(expect.objectContaining({ code: 'EPERM' }));
    }
    own.fileSystem.writeFileSync('/f', 'x'.repeat(12));
    await expect(own.push()).rejects.toMatchObject({ code: 'ENOSPC', allowed: 10 });
    await fs.setLimits({ maxTotalSize: 12 });
    await own.push();
    expect((await fs.stats()).totalSize).toBe(12);
    expect(copy.fileSystem.limits).toEqual({ maxTotalSize: 12 });
  });
});

const EVERYTHING = new SampleGuard([{ root: '/', read: true, write: true }]);
const ignore = (): void => {};

const LAYERS: Readonly<Record<string, (fs: FileSystem) => FileSystem>> = {
  readonly: (fs) => readonly(fs),
  restrict: (fs) => restrict(fs, EVERYTHING),
  mount: (fs) => mount(fs, {}),
  'mount of two': (fs) => mount(fs, { '/at': openInMemory() }),
  observe: (fs) => observe(fs, ignore),
  'restrict over observe': (fs) => restrict(observe(fs, ignore), EVERYTHING),
  overlay: (fs) => overlay(fs),
};

describe.each(Object.keys(LAYERS))('through %s', (name) => {
  const layerOf = LAYERS[name] as (fs: FileSystem) => FileSystem;

  it.each(['memory', 'async memory'])('limits of %s hold, are shown and cannot be changed', async (kind) => {
    const limits = { maxTotalSize: 10 };
    const fs = await (kind === 'memory'
      ? openInMemory({ limits })
      : openFileSystem(asyncForm(new MemoryStorage()), { limits }));
    const layer = layerOf(fs);
    const fork = await layer.fork();
    for (const one of [layer, fork]) {
      const refused = { code: 'EPERM', syscall: 'setLimits' };
      await expect(one.setLimits({})).rejects.toMatchObject(refused);
      if (one.kind === 'sync')
        expect(() => (one as SyncFileSystem).setLimitsSync({})).toThrow(expect.objectContaining(refused));
      expect(one.limits).toEqual(name === 'mount of two' ? {} : limits);
      if (name !== 'readonly')
        await expect(one.writeFile('/f', 'x'.repeat(11))).rejects.toMatchObject({ code: 'ENOSPC', allowed: 10 });
    }
    await fs.setLimits({ maxTotalSize: 5 });
    const seen = name === 'overlay' ? 10 : 5;
    if (name !== 'mount of two') expect(layer.limits).toEqual({ maxTotalSize: seen });
    if (name !== 'readonly')
      await expect(layer.writeFile('/f', 'x'.repeat(seen + 1))).rejects.toMatchObject({ allowed: seen });
    await fork.close();
  });
});
