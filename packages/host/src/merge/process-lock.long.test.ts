import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { findRepository } from '../git/git-repository.js';
import { apply, prepare, runBehind } from '../testing/left-merges.js';
import { stateOf } from '../testing/repository-state.js';
import { SampleFolders } from '../testing/sample-repository.js';
import { recoverStage } from './stage.js';

/** Directories that cannot be synced to disk. */
const disk = vi.hoisted(() => ({ fails: (_directory: string): boolean => false }));

vi.mock('./durable.js', async (original) => {
  const durable = await original<typeof import('./durable.js')>();
  const settle = async (directory: string): Promise<void> => {
    if (disk.fails(directory)) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
    await durable.settle(directory);
  };
  return { ...durable, settle };
});

const folders = new SampleFolders();
afterAll(() => folders.remove());
beforeEach(() => {
  disk.fails = () => false;
});

function leftIn(gitDirectory: string): string[] {
  return readdirSync(gitDirectory).filter((name) => /scratchfs|lock/.test(name));
}

it.each(['before', 'after'])(
  'a merge that fails %s its stage is renamed into place leaves nothing and blocks no other call',
  async (when) => {
    const { sample, repository, from, to } = await prepare(folders);
    const before = stateOf(sample.path);
    disk.fails = (directory) => (directory === repository.gitDirectory) === (when === 'after');
    await expect(apply(repository, from, to)).rejects.toThrow(/EIO/);
    expect(leftIn(repository.gitDirectory)).toEqual([]);
    expect(stateOf(sample.path)).toEqual(before);
    disk.fails = () => false;
    expect(await apply(repository, from, to)).toEqual({ done: true });
  },
);

it('a lock ends with its call even if nothing else could be undone', async () => {
  const { repository, from, to } = await prepare(folders);
  const stage = join(repository.gitDirectory, 'scratchfs-merge');
  const killed = {
    git: 'case "$*" in "update-ref "*) exit 1 ;; esac',
    xargs: 'case " $* " in *" remove "*) exit 125 ;; esac',
  };
  await expect(runBehind(folders, killed, () => apply(repository, from, to))).rejects.toThrow(/could not be put right/);
  expect(existsSync(stage)).toBe(true);
  expect(readdirSync(stage).filter((name) => name.startsWith('claim-'))).toEqual([]);
  expect(await recoverStage(repository, repository.git)).toBe('undone');
});

it('a copy of a repository made during a merge is recovered while the merging process still runs', async () => {
  const { sample, repository, from, to } = await prepare(folders);
  const before = stateOf(sample.path);
  const copy = folders.folder();
  const copied = { git: `case "$*" in "update-ref "*) cp -a '${sample.path}/.' '${copy}/' ;; esac` };
  expect(await runBehind(folders, copied, () => apply(repository, from, to))).toEqual({ done: true });
  const found = await findRepository(copy);
  if (found === undefined) throw new Error('This is no copy');
  expect(leftIn(found.gitDirectory)).toEqual(expect.arrayContaining(['index.lock', 'scratchfs-merge']));
  expect(await recoverStage(found, found.git)).toBe('undone');
  expect(leftIn(found.gitDirectory)).toEqual([]);
  expect(stateOf(copy)).toEqual(before);
});
