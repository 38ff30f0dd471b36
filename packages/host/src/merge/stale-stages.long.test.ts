import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, linkSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { apply, ID, leaveHalfDone, planFor, prepare } from '../testing/left-merges.js';
import { stateOf } from '../testing/repository-state.js';
import { SampleFolders } from '../testing/sample-repository.js';
import { currentHost, UNSEEN_MS } from './host-identity.js';
import { recoverStage } from './stage.js';

/** Directory under which nothing may be written. */
const closed = vi.hoisted(() => ({ beneath: undefined as string | undefined }));

vi.mock('node:fs/promises', async (original) => {
  const fs = await original<typeof import('node:fs/promises')>();
  const refuse = (path: unknown): void => {
    if (closed.beneath !== undefined && String(path).startsWith(closed.beneath))
      throw Object.assign(new Error(`EACCES: permission denied '${path}'`), { code: 'EACCES' });
  };
  const mkdir = async (path: string, options?: object): Promise<unknown> => {
    refuse(path);
    return fs.mkdir(path, options);
  };
  const rename = async (from: string, to: string): Promise<void> => {
    refuse(from);
    await fs.rename(from, to);
  };
  return { ...fs, mkdir, rename };
});

const folders = new SampleFolders();
afterAll(() => folders.remove());
beforeEach(() => {
  closed.beneath = undefined;
});

const ELSEWHERE = '0'.repeat(16);

describe('the stage of a finisher killed after everything but the release of the lock', () => {
  /** Creates such a stage. The finisher's process number now belongs to an unrelated process. */
  async function left(place?: object) {
    const { sample, repository, from, to } = await prepare(folders);
    const before = stateOf(sample.path);
    const draft = join(repository.gitDirectory, `scratchfs-merge-${ID}.${process.pid}.`);
    mkdirSync(draft);
    writeFileSync(join(draft, 'plan'), JSON.stringify({ ...planFor(from, to), ...(place && { place }) }));
    writeFileSync(join(draft, 'lock'), ID);
    linkSync(join(draft, 'lock'), join(repository.gitDirectory, 'index.lock'));
    return { sample, before, draft, recover: () => recoverStage(repository, repository.git) };
  }

  it('is removed with its lock although another process has its number by now', async () => {
    const { sample, before, recover } = await left(currentHost());
    expect(await recover()).toBe('nothing');
    expect(stateOf(sample.path)).toEqual(before);
  });

  it.skipIf(process.platform !== 'linux')(
    'stays as long as its finisher is at work (needs /proc of Linux)',
    async () => {
      const { draft, recover } = await left();
      const finisher = spawn('sleep', ['60'], { env: { MERGE: ID } });
      try {
        await once(finisher, 'spawn');
        expect(await recover()).toBe('nothing');
        expect(existsSync(draft)).toBe(true);
      } finally {
        finisher.kill();
      }
      await vi.waitUntil(async () => (await recover()) === 'nothing' && !existsSync(draft), 60_000);
    },
  );

  it('stays for some minutes if it was made on another host', async () => {
    const { sample, before, draft, recover } = await left({ ...currentHost(), processes: 'of a container' });
    await recover();
    expect(existsSync(draft)).toBe(true);
    const old = (Date.now() - UNSEEN_MS) / 1_000 - 1;
    for (const path of ['plan', 'lock', '.']) utimesSync(join(draft, path), old, old);
    await recover();
    expect(stateOf(sample.path)).toEqual(before);
  });
});

it('a draft of another host stays as long as files are added to it', async () => {
  const { repository } = await prepare(folders);
  const draft = join(repository.gitDirectory, `scratchfs-merge-${ID}.1.0.${ELSEWHERE}`);
  mkdirSync(join(draft, 'kept'), { recursive: true });
  utimesSync(draft, 1, 1);
  expect(await recoverStage(repository, repository.git)).toBe('nothing');
  expect(existsSync(draft)).toBe(true);
  utimesSync(join(draft, 'kept'), 1, 1);
  await recoverStage(repository, repository.git);
  expect(existsSync(draft)).toBe(false);
});

it('a file written far ahead of the clock is not a sign of work', async () => {
  const { repository } = await prepare(folders);
  const draft = join(repository.gitDirectory, `scratchfs-merge-${ID}.1.0.${ELSEWHERE}`);
  const at = (milliseconds: number): void => utimesSync(draft, 1, (Date.now() + milliseconds) / 1_000);
  mkdirSync(draft);
  at(UNSEEN_MS / 2);
  await recoverStage(repository, repository.git);
  expect(existsSync(draft)).toBe(true);
  at(365 * 86_400_000);
  await recoverStage(repository, repository.git);
  expect(existsSync(draft)).toBe(false);
});

it('an unwritable repository is reported without any path', async () => {
  const { sample, repository, from, to } = await prepare(folders);
  const before = stateOf(sample.path);
  closed.beneath = join(repository.gitDirectory, 'scratchfs-merge');
  const why = "Nothing may be written in the repository's git directory.";
  expect(await apply(repository, from, to)).toEqual({ done: false, why });
  expect(stateOf(sample.path)).toEqual(before);
  leaveHalfDone(sample, repository, from, from, { added: [], restored: [], directories: [] });
  rmSync(join(closed.beneath, 'begun'));
  await expect(recoverStage(repository, repository.git)).rejects.toThrow(why.slice(0, -1));
});
