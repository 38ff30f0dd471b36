import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SyncFileSystem } from '@scratchfs/core';
import { acquireProcessLock } from '@scratchfs/host/internal';
import { createFileSystem } from 'scratchfs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AttemptIndex } from './attempts/attempt-index.js';
import { copiesOf } from './commands/copies.js';
import { collectGarbage } from './garbage.js';
import { openWorkspace } from './workspace.js';
import type { Workspace } from './workspace-types.js';

let directory: string;
let store: SyncFileSystem;
const open: Workspace[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'garbage-'));
  writeFileSync(join(directory, 'a.txt'), 'from the disk');
  store = createFileSystem();
});
afterEach(async () => {
  for (const workspace of open.splice(0)) await workspace.close();
  rmSync(directory, { recursive: true, force: true });
});

async function opened(): Promise<Workspace> {
  const workspace = await openWorkspace(directory, { store });
  open.push(workspace);
  return workspace;
}

const contents = (): number => [...store.walkSync('/contents')].filter(({ kind }) => kind === 'file').length;

it('keeps what an attempt can undo, redo and restore', async () => {
  const workspace = await opened();
  const attempt = await workspace.createAttempt('one');
  await attempt.fileSystem.writeFile('/a.txt', 'first');
  await attempt.fileSystem.writeFile('/a.txt', 'second');
  await attempt.fileSystem.rm('/a.txt');
  await attempt.undo();
  const before = contents();
  expect(await workspace.gc({ graceMs: 0 })).toEqual({ deleted: 0, bytes: 0, kept: before });
  const again = await (await opened()).attempt('one');
  expect(await again.fileSystem.readText('/a.txt')).toBe('second');
  await again.undo();
  expect(await again.fileSystem.readText('/a.txt')).toBe('first');
  await again.undo();
  expect(await again.fileSystem.readText('/a.txt')).toBe('from the disk');
  await again.redo();
  await again.redo();
  await again.redo();
  expect(await again.fileSystem.exists('/a.txt')).toBe(false);
});

it('deletes what a discarded attempt has stored, after the grace period, and keeps what its fork needs', async () => {
  const workspace = await opened();
  const one = await workspace.createAttempt('one');
  await one.fileSystem.writeFile('/shared.txt', 'shared');
  const two = await one.fork('two');
  await one.fileSystem.writeFile('/alone.txt', 'alone');
  await one.discard();
  expect((await workspace.gc()).deleted).toBe(0);
  const { deleted, bytes } = await workspace.gc({ graceMs: 0 });
  // Two operations, the head at the beginning, and one content.
  expect(deleted).toBe(4);
  expect(bytes).toBeGreaterThan(5);
  expect(await two.fileSystem.readText('/shared.txt')).toBe('shared');
  expect(await (await (await opened()).attempt('two')).fileSystem.readText('/shared.txt')).toBe('shared');
  await expect(workspace.attempt('one')).rejects.toMatchObject({ code: 'closed' });
  expect((await workspace.attempts()).map(({ name }) => name).sort()).toEqual(['one', 'two']);
});

it('keeps a young content that no record names yet, and one that a writer uses again', async () => {
  const workspace = await opened();
  const attempt = await workspace.createAttempt('one');
  await attempt.fileSystem.writeFile('/x', 'again');
  const path = [...store.walkSync('/contents')].find(({ kind }) => kind === 'file')?.path as string;
  await attempt.discard();
  store.utimesSync(path, 0, 0);
  const other = await (await opened()).createAttempt('two');
  await other.fileSystem.writeFile('/y', 'again');
  expect(store.statSync(path).mtimeMs).toBeGreaterThan(1_000);
  expect((await workspace.gc()).deleted).toBe(0);
  expect(await other.fileSystem.readText('/y')).toBe('again');
});

it('keeps the newest operations, which can be undone, from a stored head on', async () => {
  const attempt = await (await opened()).createAttempt('one');
  for (let i = 1; i <= 230; i++) await attempt.fileSystem.writeFile('/n', String(i));
  const index = new AttemptIndex(store, () => 0);
  const gone = await collectGarbage(store, index, { now: Number.MAX_SAFE_INTEGER, graceMs: 0, keptOperations: 20 });
  // The records 1 to 200, the head at 100, and the contents that they alone name.
  expect(gone.deleted).toBeGreaterThan(201);
  const again = await (await opened()).attempt('one');
  expect(await again.fileSystem.readText('/n')).toBe('230');
  expect((await again.log({ limit: 1_000 })).operations).toHaveLength(30);
  await again.restore(201);
  expect(await again.fileSystem.readText('/n')).toBe('201');
  await expect(again.restore(50)).rejects.toMatchObject({ code: 'not-found' });
  await again.restore(0);
  expect(await again.fileSystem.exists('/n')).toBe(false);
  await again.undo();
  await again.undo();
  await again.undo();
  expect(await again.fileSystem.readText('/n')).toBe('229');
});

it('lets a client that was idle meanwhile go on from the newest state', async () => {
  const idle = await (await opened()).createAttempt('one');
  const unused = await (await opened()).attempt('one');
  await idle.fileSystem.writeFile('/a.txt', 'first');
  const busy = await (await opened()).attempt('one');
  for (let i = 1; i <= 210; i++) await busy.fileSystem.writeFile('/n', String(i));
  const index = new AttemptIndex(store, () => 0);
  await collectGarbage(store, index, { now: Number.MAX_SAFE_INTEGER, graceMs: 0, keptOperations: 5 });
  const later = Date.now() + 3_600_000;
  using _ = vi.spyOn(Date, 'now').mockImplementation(() => later);
  await idle.fileSystem.writeFile('/late', 'late');
  expect(await busy.fileSystem.readText('/late')).toBe('late');
  expect([await idle.head(), await busy.head()]).toEqual([212, 212]);
  expect(await unused.fileSystem.readText('/n')).toBe('210');
});

it('that was interrupted, or is at work, leaves a discarded attempt in the list', async () => {
  const workspace = await opened();
  const one = await workspace.createAttempt('one');
  for (let i = 1; i <= 40; i++) await one.fileSystem.writeFile('/n', String(i));
  await one.discard();
  const controller = new AbortController();
  const { signal } = controller;
  let count = 0;
  const slow = new Proxy(store, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key);
      if (key === 'rm' && ++count === 20) controller.abort();
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const interrupted = collectGarbage(slow, new AttemptIndex(slow, () => 0), {
    now: Number.MAX_SAFE_INTEGER,
    graceMs: 0,
    signal,
  });
  await expect(interrupted).rejects.toThrow('abort');
  expect(store.existsSync('/attempts/one/operations/000000001')).toBe(false);
  expect(store.existsSync('/attempts/one/operations/000000040')).toBe(true);
  for (const client of [workspace, await opened()])
    expect(await client.attempts()).toMatchObject([{ name: 'one', state: 'discarded' }]);
});

it('runs beside another one', async () => {
  mkdirSync(join(directory, 'd'));
  const workspace = await opened();
  const one = await workspace.createAttempt('one');
  await one.fileSystem.rename('/d', '/e');
  await one.accept();
  const later = { now: Date.now() + 200 * 86_400_000, graceMs: 0 };
  let isFirst = true;
  const beside = new Proxy(store, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key);
      if (key === 'stat')
        return async (path: string) => {
          if (path.startsWith('/moved/') && isFirst) {
            isFirst = false;
            expect((await collectGarbage(store, new AttemptIndex(store, () => 0), later)).deleted).toBe(1);
          }
          return target.stat(path);
        };
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  expect((await collectGarbage(beside, new AttemptIndex(beside, () => 0), later)).deleted).toBe(0);
});

it('deletes approvals that have expired, with what was decided, except for the newest ones', async () => {
  const { approvals } = await opened();
  const what = { attempt: 'one', head: 1, action: 'accept', summary: 'Accept' };
  for (const ttlMs of [600_000, 2_000_000_000, 600_000, 600_000, 600_000]) await approvals.request({ ...what, ttlMs });
  await approvals.approve(1);
  await approvals.use(1, { attempt: 'one', head: 1, action: 'accept' });
  await approvals.deny(3);
  const collect = (now: number, graceMs: number) =>
    collectGarbage(store, new AttemptIndex(store, () => 0), { now, graceMs, keptApprovals: 2 });
  expect(await collect(Date.now() + 60_000, 0)).toMatchObject({ deleted: 0 });
  expect(await collect(Date.now() + 6_000_000, 0)).toMatchObject({ deleted: 5 });
  expect((await (await opened()).approvals.list()).map(({ id }) => id)).toEqual([5, 4, 2]);
  expect((await (await opened()).approvals.request(what)).id).toBe(6);
});

it('removes the copies for commands that have not been used for long', async () => {
  const workspace = await opened();
  const [old, used] = ['old', 'used'].map((name) => copiesOf(directory, name)) as [string, string];
  for (const path of [old, used]) mkdirSync(path, { recursive: true });
  utimesSync(old, 1, 1);
  await workspace.gc();
  expect([existsSync(old), existsSync(used)]).toEqual([false, true]);
  utimesSync(used, 1, 1);
  await workspace.gc();
  expect(existsSync(dirname(used))).toBe(false);
});

it('keeps a copy that a command has used lately, or is using', async () => {
  const workspace = await opened();
  const attempt = copiesOf(directory, 'one');
  const copy = join(attempt, '0');
  mkdirSync(copy, { recursive: true });
  utimesSync(attempt, 1, 1);
  await workspace.gc();
  expect(existsSync(copy)).toBe(true);
  const lock = (await acquireProcessLock(copy, 'run')) as string;
  for (const path of [copy, attempt]) utimesSync(path, 1, 1);
  await workspace.gc();
  expect(existsSync(copy)).toBe(true);
  rmSync(join(copy, lock));
  for (const path of [copy, attempt]) utimesSync(path, 1, 1);
  await workspace.gc();
  expect(existsSync(attempt)).toBe(false);
});

it('on a store that does not exist does nothing', async () => {
  expect(await (await opened()).gc()).toEqual({ deleted: 0, bytes: 0, kept: 0 });
  expect(store.readdirSync('/')).toEqual([]);
});
