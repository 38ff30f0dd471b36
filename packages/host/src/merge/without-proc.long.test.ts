import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, it, vi } from 'vitest';
import { isAlive, isRunning, startOf } from '../process-start.js';
import { apply, leaveHalfDone, prepare, runBehind } from '../testing/left-merges.js';
import { SampleFolders } from '../testing/sample-repository.js';
import { acquireProcessLock } from './process-lock.js';
import { recoverStage } from './stage.js';

/** As on systems other than Linux, in a chroot without /proc, or if /proc hides the processes of other users. */
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const gone = (path: unknown): void => {
    if (/^\/proc(\/|$)/.test(String(path))) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
  };
  const without =
    <A extends unknown[], R>(call: (path: never, ...more: A) => R) =>
    (path: never, ...more: A): R => {
      gone(path);
      return call(path, ...more);
    };
  return {
    ...fs,
    readFileSync: without(fs.readFileSync),
    readdirSync: without(fs.readdirSync),
    readlinkSync: without(fs.readlinkSync),
  };
});

const folders = new SampleFolders();
afterAll(() => folders.remove());

const LISTS = { added: ['new.txt'], restored: ['a.txt'], directories: [] };

it('a process is known to run, and any start time matches it', async () => {
  expect(startOf(process.pid)).toBe('0');
  expect(isAlive(process.pid, '7')).toBe(true);
  expect(isAlive(4_194_305)).toBe(false);
});

it('a running merge is left alone', async () => {
  const { sample, repository, from, to } = await prepare(folders);
  const gate = join(folders.folder(), 'open');
  const slow = { git: `case "$*" in "update-ref "*) while ! [ -e '${gate}' ]; do sleep 0.02; done ;; esac` };
  const merge = runBehind(folders, slow, () => apply(repository, from, to));
  await vi.waitUntil(() => existsSync(join(repository.gitDirectory, 'scratchfs-merge/begun')), 60_000);
  await wait(200);
  const recovering = recoverStage(repository, repository.git).finally(() => writeFileSync(gate, ''));
  await expect(recovering).rejects.toThrow(/Another merge is being brought/);
  expect(await merge).toEqual({ done: true });
  expect(sample.git('rev-parse', 'HEAD')).toBe(to);
  expect(sample.git('status', '--porcelain')).toBe('');
});

it('the worker of a merge is known by its process number, as long as it runs and the machine has not been rebooted', async () => {
  const { sample, repository, from, to } = await prepare(folders);
  const worker = join(repository.gitDirectory, 'scratchfs-merge/worker');
  const recover = () => recoverStage(repository, repository.git);
  // The finisher's child outlives it.
  const finisher = spawn('sh', ['-c', 'sleep 60 >&- & echo ready'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(finisher, 'close');
  const group = finisher.pid as number;
  const leave = (): void => {
    leaveHalfDone(sample, repository, from, to, LISTS);
    writeFileSync(worker, String(group));
  };
  try {
    leave();
    await expect(recover()).rejects.toThrow(/Another merge is being brought/);
    const before = Date.now() / 1_000 - uptime() - 10;
    utimesSync(worker, before, before);
    expect(await recover()).toBe('undone');
    leave();
  } finally {
    process.kill(-group);
  }
  await vi.waitUntil(() => !isRunning(-group), 60_000);
  expect(await recover()).toBe('undone');
  expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('one\n');
});

it('a lock from before a reboot is void', async () => {
  const directory = folders.folder();
  const id = 'ab'.repeat(12);
  const name = await acquireProcessLock(directory, id);
  expect(await acquireProcessLock(directory, id)).toBeUndefined();
  const before = Date.now() / 1_000 - uptime() - 10;
  utimesSync(join(directory, name as string), before, before);
  expect(await acquireProcessLock(directory, id)).toBe(`claim-${id}.1`);
});
