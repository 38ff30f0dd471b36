import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createFileSystem, type FileSystem, type SyncFileSystem } from 'scratchfs';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Attempt } from '../attempt-types.js';
import { Directories } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';
import type { Workspace } from '../workspace-types.js';

const directories = new Directories();
let disk: string;
let store: SyncFileSystem;
let attempt: Attempt;
/** The same attempt, for another client that knows only the store. */
let other: Attempt;
let releases: (() => void)[];

beforeEach(async () => {
  disk = directories.directory({ a: 'a\n', 'src/same': 'same\n', 'lib/x': 'x\n', 'lib/deep/y': 'y\n' });
  store = createFileSystem();
  releases = [];
  const workspaces: Workspace[] = [];
  const open = async (): Promise<Attempt> => {
    const workspace = await openWorkspace(disk, { store });
    workspaces.push(workspace);
    return workspace.attempt();
  };
  attempt = await open();
  await attempt.operation({}, (fs) => fs.rename('/lib', '/moved'));
  other = await open();
  return async () => {
    for (const release of releases) release();
    for (const workspace of workspaces) await workspace.close();
  };
});
afterAll(() => directories.remove());

function latch(): [Promise<void>, () => void] {
  let open = (): void => {};
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [promise, () => open()];
}

/** Starts work and returns when it has moved the directory on the disk, before the operation is in the log. */
async function held<T>(work: () => Promise<T>): Promise<{ readonly result: Promise<T>; readonly release: () => void }> {
  const was = existsSync(join(disk, 'lib'));
  const [promise, release] = latch();
  const [moved, tellMoved] = latch();
  let isHeld = true;
  for (const name of ['mkdir', 'writeFile'] as const) {
    const method = store[name].bind(store) as (...given: unknown[]) => Promise<void>;
    store[name] = (async (...given: unknown[]) => {
      if (isHeld && existsSync(join(disk, 'lib')) !== was) {
        tellMoved();
        await promise;
        isHeld = false;
      }
      return method(...given);
    }) as never;
  }
  releases.push(release);
  const result = work();
  await moved;
  return { result, release };
}

const readAll = async (fs: FileSystem, paths: readonly string[]): Promise<string> => {
  for (const path of paths) await fs.readdir(path);
  return (await fs.readText('/moved/x')) + (await fs.readText('/moved/deep/y'));
};

const READS: readonly [string, (one: Attempt) => Promise<string>][] = [
  [
    'a transaction that reads the root first',
    async (one) => (await one.operation({}, (fs) => readAll(fs, ['/', '/moved']))).value,
  ],
  [
    'a transaction that reads only there',
    async (one) => (await one.operation({}, (fs) => readAll(fs, ['/moved']))).value,
  ],
  ['plain reads', (one) => readAll(one.fileSystem, ['/moved', '/moved/deep'])],
];

describe('reads in a directory that an accept has moved', () => {
  it.each(READS)('wait for the accept, its undo and its redo: %s', async (_, read) => {
    for (const step of [() => attempt.accept(), () => attempt.undo(), () => attempt.redo()]) {
      const { result, release } = await held<unknown>(step);
      let hasEnded = false;
      const text = read(attempt).finally(() => (hasEnded = true));
      expect((await attempt.operation({}, (fs) => fs.readText('/src/same'))).value).toBe('same\n');
      expect(await attempt.fileSystem.readText('/a')).toBe('a\n');
      expect(hasEnded).toBe(false);
      release();
      expect(await text).toBe('x\ny\n');
      await result;
    }
  });

  it('wait for an accept by merge', async () => {
    disk = directories.repository({ 'lib/x': 'x\n', 'lib/deep/y': 'y\n' });
    store = createFileSystem();
    await using workspace = await openWorkspace(disk, { store });
    const merging = await workspace.attempt();
    await merging.operation({}, (fs) => fs.rename('/lib', '/moved'));
    const { result, release } = await held(() => merging.accept({ as: 'merge' }));
    const reads = Promise.all(READS.map(([, read]) => read(merging)));
    reads.catch(() => undefined);
    await pause(50);
    release();
    expect(await result).toMatchObject({ success: true });
    expect(await reads).toEqual(READS.map(() => 'x\ny\n'));
  });

  it('wait for the accept of another client, and changes do too', async () => {
    const { result, release } = await held(() => attempt.accept());
    const reads = Promise.all(READS.map(([, read]) => read(other)));
    reads.catch(() => undefined);
    expect(await other.fileSystem.readText('/a')).toBe('a\n');
    await pause(50);
    release();
    expect(await reads).toEqual(READS.map(() => 'x\ny\n'));
    await result;
    const edited = await held(() => attempt.undo());
    const edit = attempt.operation({}, (fs) => fs.editFile('/moved/x', 'x', 'new'));
    edited.release();
    await Promise.all([edited.result, edit]);
    expect(await READS[0]?.[1](attempt)).toBe('new\ny\n');
  });

  it('end with their signal, and with EBUSY if the directory is lost', async () => {
    const { result, release } = await held(() => attempt.accept());
    const controller = new AbortController();
    const aborted = attempt.operation({}, (fs) => fs.readText('/moved/x'), { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 10);
    await expect(aborted).rejects.toThrow('enough');
    release();
    await result;
    await attempt.operation({}, (fs) => fs.rename('/moved', '/again'));
    rmSync(join(disk, 'moved'), { recursive: true });
    await expect(attempt.operation({}, (fs) => fs.readText('/again/x'))).rejects.toMatchObject({ code: 'EBUSY' });
  });

  it('never hang beside accepts and undos, and see no state in between', async () => {
    let isDone = false;
    const readers = READS.map(async ([, read]) => {
      let count = 0;
      for (; !isDone; count++, await pause(2)) expect(await read(attempt)).toBe('x\ny\n');
      return count;
    });
    const others = READS.map(async ([, read]) => {
      for (; !isDone; await pause(2)) await read(other).catch(() => undefined);
    });
    const moves = (async () => {
      for (let round = 0; round < 3; round++) {
        await attempt.accept();
        await attempt.undo();
      }
    })().finally(() => (isDone = true));
    const [, ...counts] = await Promise.all([moves, ...readers, ...others]);
    for (const count of counts.slice(0, READS.length)) expect(count).toBeGreaterThan(0);
  });
});
