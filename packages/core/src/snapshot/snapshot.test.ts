import { describe, expect, it } from 'vitest';
import { openFileSystem, openInMemory } from '../create-file-system.js';
import { rootMeta } from '../engine/defaults.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { ExecutorSyncStorage } from '../executor-storage.js';
import type { SyncFileSystem } from '../file-system.js';
import { overlay, readonly } from '../layers.js';
import type { Limits } from '../limits.js';
import { directory, entriesOf, file } from '../testing/sample-tree.js';
import { createSnapshot, createSnapshotSync } from './create-snapshot.js';
import { encodeSnapshot } from './encode.js';
import { restoreSnapshot, restoreSnapshotSync } from './restore-snapshot.js';
import { xxh32 } from './xxh32.js';

let storages = 0;
function open(limits: Limits = {}, clock?: () => number): SyncFileSystem {
  let now = 1_700_000_000_000 + storages++ * 1000;
  const tick = clock ?? (() => (now += 0.5));
  return openFileSystem(new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(tick())), tick), {
    clock: tick,
    limits,
  });
}

/** Creates entries of every kind. */
function fill(fs: SyncFileSystem): void {
  fs.mkdirSync('/src/deep/er', { recursive: true, mode: 0o750 });
  fs.mkdirSync('/empty');
  fs.writeFileSync('/src/index.ts', 'export {};\n');
  fs.writeFileSync(
    '/src/deep/binary',
    Uint8Array.from({ length: 5000 }, (_, i) => i),
  );
  fs.writeFileSync('/src/deep/er/large', new Uint8Array(200_000).fill(9));
  fs.writeFileSync('/__proto__', 'a name like any other', { mode: 0o600 });
  fs.writeFileSync('/\ufeffé', 'accents: é');
  fs.symlinkSync('../src/index.ts', '/src/link');
  fs.symlinkSync('/nowhere\\x', '/dangling');
  fs.linkSync('/src/index.ts', '/src/deep/second');
  fs.linkSync('/src/index.ts', '/third');
  fs.linkSync('/dangling', '/dangling-too');
  fs.chownSync('/empty', 1000, 100);
  fs.chmodSync('/third', 0o4711);
  fs.utimesSync('/src', -5.25, 12.0001);
  fs.truncateSync('/src/deep/er/large', 300_000);
}

function dump(fs: SyncFileSystem): unknown {
  const entries = [...fs.walkSync('/')].map((entry) => {
    const content = entry.kind === 'file' ? xxh32(fs.readFileSync(entry.path)) : undefined;
    return { ...entry, content };
  });
  return { entries, root: { ...fs.statSync('/') }, stats: fs.statsSync() };
}

/** Compares without computing a readable difference, which is slow for long arrays. */
function expectSame(a: Uint8Array, b: Uint8Array): void {
  expect(a.length).toBe(b.length);
  expect(a.every((byte, at) => byte === b[at])).toBe(true);
}

describe('createSnapshot and restoreSnapshot', () => {
  it('bring the exact state into another filesystem', async () => {
    const fs = open();
    fill(fs);
    const copy = open();
    copy.writeFileSync('/extra', 'goes');
    await restoreSnapshot(copy, await createSnapshot(fs));
    expect(dump(copy)).toEqual(dump(fs));
    const synchronous = open();
    restoreSnapshotSync(synchronous, createSnapshotSync(fs));
    expect(dump(synchronous)).toEqual(dump(fs));
    expect(fs.statSync('/third').nlink).toBe(3);
    copy.appendFileSync('/src/deep/second', 'x');
    expect(copy.readTextSync('/third')).toBe('export {};\nx');
  });

  it('give the same bytes for the same state, whatever its history', async () => {
    const fs = open();
    fill(fs);
    const bytes = await createSnapshot(fs);
    expectSame(createSnapshotSync(fs), bytes);
    const copy = open();
    fill(copy);
    copy.linkSync('/third', '/fourth');
    restoreSnapshotSync(copy, bytes);
    expectSame(createSnapshotSync(copy), bytes);
  });

  it('do not show that a file once had several names', () => {
    const snapshotOf = (linked: boolean) => {
      const fs = open({}, () => 1);
      fs.writeFileSync('/once-linked', 'x');
      if (linked) {
        fs.linkSync('/once-linked', '/gone');
        fs.rmSync('/gone');
      }
      return createSnapshotSync(fs);
    };
    expectSame(snapshotOf(true), snapshotOf(false));
  });

  it('leave a filesystem that works: everything can be changed afterwards', () => {
    for (const adopt of [false, true]) {
      const fs = open();
      fill(fs);
      const bytes = createSnapshotSync(fs);
      const kept = bytes.slice();
      const copy = open();
      restoreSnapshotSync(copy, bytes, { adopt });
      copy.writeFileSync('/src/deep/er/new', 'new');
      copy.appendFileSync('/src/deep/er/large', 'tail');
      copy.appendFileSync('/src/deep/binary', 'tail');
      const handle = copy.openSync('/src/index.ts', 'r+');
      handle.writeSync('CHANGED', 0);
      handle.closeSync();
      copy.truncateSync('/src/deep/binary', 10);
      copy.rmSync('/src/deep', { recursive: true });
      copy.renameSync('/src', '/moved');
      expect(copy.readTextSync('/third')).toBe('CHANGED{};\n');
      expect(copy.lstatSync('/third').nlink).toBe(2);
      expectSame(bytes, kept);
      copy.rmSync('/moved', { recursive: true });
      for (const name of copy.readdirSync('/')) copy.rmSync(`/${name}`, { recursive: true });
      expect(copy.statsSync()).toEqual({ totalSize: 0, fileCount: 0, directoryCount: 0, nodeCount: 0 });
    }
  });

  it('share nothing with the caller’s bytes, unless they may adopt them', async () => {
    const fs = open();
    fill(fs);
    const original = createSnapshotSync(fs);
    const bytes = original.slice();
    restoreSnapshotSync(fs, bytes);
    bytes.fill(0);
    expectSame(createSnapshotSync(fs), original);
    bytes.set(original);
    const restoring = restoreSnapshot(fs, bytes);
    bytes.fill(0);
    await restoring;
    expectSame(createSnapshotSync(fs), original);
    const made = await createSnapshot(fs);
    made.fill(0);
    expectSame(createSnapshotSync(fs), original);
  });

  it('take bytes from shared memory, but cannot adopt them', async () => {
    const fs = open();
    fill(fs);
    const bytes = createSnapshotSync(fs);
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    restoreSnapshotSync(fs, shared);
    await restoreSnapshot(fs, shared);
    expectSame(createSnapshotSync(fs), bytes);
    expect(() => restoreSnapshotSync(fs, shared, { adopt: true })).toThrow(TypeError);
    await expect(restoreSnapshot(fs, shared, { adopt: true })).rejects.toThrow(TypeError);
  });

  it('refuse bytes that are not a snapshot, and change nothing', async () => {
    const fs = open();
    fill(fs);
    const before = dump(fs);
    const bytes = createSnapshotSync(fs);
    const damaged = bytes.slice();
    damaged[100] = (damaged[100] as number) ^ 1;
    const corrupt = expect.objectContaining({ name: 'StorageError', kind: 'corrupt' });
    for (const bad of [new Uint8Array(), damaged, bytes.subarray(1)]) {
      expect(() => restoreSnapshotSync(fs, bad)).toThrowError(corrupt);
      await expect(restoreSnapshot(fs, bad)).rejects.toThrowError(corrupt);
      await expect(restoreSnapshot(fs, bad, { adopt: true })).rejects.toThrowError(corrupt);
    }
    for (const bad of [null, undefined, 'text', {}, [1, 2], new Uint16Array(8), new ArrayBuffer(100)]) {
      expect(() => restoreSnapshotSync(fs, bad as Uint8Array)).toThrow(TypeError);
      await expect(restoreSnapshot(fs, bad as Uint8Array)).rejects.toThrow(TypeError);
    }
    await expect(restoreSnapshot(fs, bytes, { adpot: true } as object)).rejects.toThrow(/no option .adpot/);
    await expect(restoreSnapshot(fs, bytes, { adopt: 1 } as object)).rejects.toThrow(TypeError);
    await expect(createSnapshot(fs, { sginal: true } as object)).rejects.toThrow(/no option .sginal/);
    expect(dump(fs)).toEqual(before);
  });

  it.each([
    ['maxNodeCount', 13, 'ENOSPC', 14],
    ['maxTotalSize', 305_000, 'ENOSPC', 305_068],
    ['maxFileSize', 299_999, 'EFBIG', 300_000],
  ] as const)('refuse a snapshot beyond %s whole', async (limit, allowed, code, requested) => {
    const fs = open();
    fill(fs);
    const { nodeCount, totalSize } = fs.statsSync();
    expect([nodeCount, totalSize]).toEqual([14, 305_068]);
    const bytes = createSnapshotSync(fs);
    const small = open({ [limit]: allowed });
    small.writeFileSync('/kept', 'four');
    const before = dump(small);
    const error = expect.objectContaining({ code, limit, requested, allowed });
    expect(() => restoreSnapshotSync(small, bytes)).toThrowError(error);
    await expect(restoreSnapshot(small, bytes)).rejects.toThrowError(error);
    expect(dump(small)).toEqual(before);
    const enough = open({ [limit]: requested });
    enough.writeFileSync('/gone', 'does not count any more');
    restoreSnapshotSync(enough, bytes);
    expectSame(createSnapshotSync(enough), bytes);
  });

  it('restore files of many megabytes completely', async () => {
    const before = open();
    for (let i = 0; i < 5; i++) before.writeFileSync(`/${i}`, new Uint8Array(700_000).fill(i + 1));
    const bytes = createSnapshotSync(before);
    for (const fs of [open(), open({ maxTotalSize: 3_500_000 })]) {
      await restoreSnapshot(fs, bytes);
      expect(Buffer.compare(createSnapshotSync(fs), bytes)).toBe(0);
    }
  });

  it('say how much was in use if there is not enough room', () => {
    const fs = open();
    fill(fs);
    const small = open({ maxTotalSize: 100 });
    small.writeFileSync('/a', 'seven b');
    const error = expect.objectContaining({ used: 7, requested: 305_068, allowed: 100 });
    expect(() => restoreSnapshotSync(small, createSnapshotSync(fs))).toThrowError(error);
  });

  it('make open handles fail with EBADF, and tell watchers', async () => {
    const fs = open();
    fill(fs);
    const bytes = createSnapshotSync(fs);
    const handle = fs.openSync('/third', 'r+');
    const gone = fs.openSync('/unlinked', 'w+');
    gone.writeSync('counts while it is open');
    fs.unlinkSync('/unlinked');
    const events = fs.watch('/', { recursive: true });
    const event = events.next();
    await restoreSnapshot(fs, bytes);
    expect(() => handle.readFileSync()).toThrowError(expect.objectContaining({ code: 'EBADF' }));
    expect(() => gone.writeSync('x')).toThrowError(expect.objectContaining({ code: 'EBADF' }));
    await expect(event).resolves.toMatchObject({ done: false, value: { type: 'overflow' } });
    await events.return?.();
    expectSame(createSnapshotSync(fs), bytes);
  });

  it('keep checkpoints, and a rollback undoes a restore', () => {
    const fs = open();
    fill(fs);
    const bytes = createSnapshotSync(fs);
    fs.rmSync('/src', { recursive: true });
    const checkpoint = fs.checkpointSync();
    const smaller = dump(fs);
    restoreSnapshotSync(fs, bytes);
    const fork = fs.forkSync();
    fs.rollbackSync(checkpoint);
    expect(dump(fs)).toEqual(smaller);
    expectSame(createSnapshotSync(fork), bytes);
  });

  it('can be part of a transaction', async () => {
    const fs = open();
    fill(fs);
    const bytes = createSnapshotSync(fs);
    const other = open();
    other.writeFileSync('/before', 'x');
    const failing = other.transaction(async (inside) => {
      await restoreSnapshot(inside, bytes);
      expect(await inside.exists('/third')).toBe(true);
      throw new Error('on second thoughts');
    });
    await expect(failing).rejects.toThrow('on second thoughts');
    expect(other.readdirSync('/')).toEqual(['before']);
    await other.transaction((inside) => restoreSnapshot(inside, bytes));
    expectSame(createSnapshotSync(other), bytes);
  });

  it('respect layers: a read-only one refuses a restore, an overlay keeps it to itself', async () => {
    const fs = open();
    fill(fs);
    const bytes = createSnapshotSync(fs);
    const base = open();
    base.writeFileSync('/base', 'stays');
    const sealed = readonly(base);
    expect(() => restoreSnapshotSync(sealed, bytes)).toThrowError(expect.objectContaining({ code: 'EROFS' }));
    await expect(restoreSnapshot(sealed, bytes)).rejects.toMatchObject({ code: 'EROFS' });
    expectSame(createSnapshotSync(sealed), createSnapshotSync(base));
    const over = overlay(base);
    await over.writeFile('/more', 'on top');
    const merged = open();
    restoreSnapshotSync(merged, await createSnapshot(over));
    expect(merged.readdirSync('/')).toEqual(['base', 'more']);
    await restoreSnapshot(over, bytes);
    expectSame(await createSnapshot(over), bytes);
    expect(base.readdirSync('/')).toEqual(['base']);
  });

  it('stop when their signal aborts, and change nothing', async () => {
    const fs = open();
    for (let i = 0; i < 20; i++) fs.writeFileSync(`/file-${i}`, new Uint8Array(2 ** 20).fill(i));
    const bytes = createSnapshotSync(fs);
    const other = open();
    const aborted = AbortSignal.abort(new Error('too late'));
    await expect(createSnapshot(fs, { signal: aborted })).rejects.toThrow('too late');
    await expect(restoreSnapshot(other, bytes, { signal: aborted })).rejects.toThrow('too late');
    const controller = new AbortController();
    const restoring = restoreSnapshot(other, bytes, { signal: controller.signal });
    controller.abort(new Error('half way'));
    await expect(restoring).rejects.toThrow('half way');
    expect(other.readdirSync('/')).toEqual([]);
    const creating = createSnapshot(fs, { signal: controller.signal });
    await expect(creating).rejects.toThrow('half way');
  });
});

describe('restoreSnapshot', () => {
  it.each([8.64e15 + 1, -1e300, 1.7e308])(
    'refuses the time %d, which utimes refuses too, and changes nothing',
    (time) => {
      const fs = openInMemory({ files: { '/kept': 'x' } });
      expect(() => fs.utimesSync('/kept', time / 1000, 0)).toThrow(RangeError);
      for (const key of ['atime', 'mtime', 'ctime', 'birthtime']) {
        const bytes = encodeSnapshot(entriesOf(directory({ a: file('', { [key]: time }) })));
        expect(() => restoreSnapshotSync(fs, bytes)).toThrow('a time is out of range');
      }
      expect(fs.readdirSync('/')).toEqual(['kept']);
    },
  );
});

describe('a snapshot made while others write', () => {
  it('shows one state', async () => {
    const fs = open();
    // Enough files that a snapshot needs several time slices on a fast machine too.
    const files = 20_000;
    for (let i = 0; i < files; i++) fs.writeFileSync(`/d-${i}`, 'x'.repeat(100));
    fs.writeFileSync('/a', '0');
    fs.writeFileSync('/z', '0');
    let turns = 0;
    let writing = true;
    const writer = (async () => {
      while (writing) {
        turns += 1;
        fs.writeFileSync('/a', `${turns}`);
        fs.writeFileSync('/z', `${turns}`);
        fs.appendFileSync(`/d-${turns % files}`, 'y');
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
    })();
    for (let round = 0; round < 20; round++) {
      const copy = open();
      restoreSnapshotSync(copy, await createSnapshot(fs));
      expect(copy.readTextSync('/a')).toBe(copy.readTextSync('/z'));
    }
    writing = false;
    await writer;
    expect(turns).toBeGreaterThanOrEqual(10);
  });

  it('is restored in one step for readers', async () => {
    const states = [open(), open()].map((fs, number) => {
      for (let i = 0; i < 1000; i++) fs.writeFileSync(`/file-${i}`, `state ${number}`);
      return createSnapshotSync(fs);
    });
    const fs = open();
    restoreSnapshotSync(fs, states[0] as Uint8Array);
    let looks = 0;
    for (let round = 1; round <= 6; round++) {
      const restoring = { done: false };
      const done = restoreSnapshot(fs, states[round % 2] as Uint8Array).finally(() => (restoring.done = true));
      while (!restoring.done) {
        expect(fs.readTextSync('/file-0')).toBe(fs.readTextSync('/file-999'));
        looks += 1;
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      await done;
    }
    expect(looks).toBeGreaterThan(5);
  });

  it('is restored as a whole, before or after a concurrent restore and write', async () => {
    const fs = open();
    fs.writeFileSync('/first', '1');
    const first = createSnapshotSync(fs);
    fs.writeFileSync('/second', '2');
    const second = createSnapshotSync(fs);
    await Promise.all([restoreSnapshot(fs, first), restoreSnapshot(fs, second), fs.writeFile('/third', '3')]);
    const names = fs.readdirSync('/').join();
    expect(['first', 'first,second']).toContain(names.replace(',third', ''));
  });
});
