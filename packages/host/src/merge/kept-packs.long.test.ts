import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findRepository, type GitRepository } from '../git/git-repository.js';
import { ID, leaveHalfDone, planFor, prepare, runBehind } from '../testing/left-merges.js';
import { SampleFolders, type SampleRepository } from '../testing/sample-repository.js';
import { HostHistory } from '../versions/host-history.js';
import { recoverMerge } from './execute-merge.js';
import { keepPack, letPacksGo } from './kept-packs.js';
import { recoverStage } from './stage.js';
import { draftNameOf } from './stale-stages.js';

const folders = new SampleFolders();
const versions = new HostHistory({ clock: () => Date.now() });
afterAll(async () => {
  await versions.close();
  folders.remove();
});

const COLLECT = '$real gc -q --prune=now';
const NOBODY = 4_194_305;
const LISTS = { added: ['new.txt'], restored: ['a.txt'], directories: [] };

function keepsIn(path: string): string[] {
  const packs = join(path, '.git/objects/pack');
  return readdirSync(packs)
    .filter((name) => name.endsWith('.keep'))
    .map((name) => join(packs, name));
}

function leftIn(path: string): string[] {
  return [...readdirSync(join(path, '.git')).filter((name) => /scratchfs|lock/.test(name)), ...keepsIn(path)];
}

/** Creates a repository and a version on it whose new objects are not in the repository. */
async function versionFor(files: Readonly<Record<string, string>>) {
  const sample = folders.repository({ 'a.txt': 'one\n' });
  const start = await versions.onboardRepo(sample.path);
  const work = folders.folder();
  await versions.checkoutSnapshot(start, work);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(work, path), text);
  const version = await versions.createSnapshot(work, start, 'Proven');
  return { sample, version, merge: () => versions.executeMerge(sample.path, version) };
}

/** Creates a merge interrupted after the files were written. */
async function cutOffHere({ merge }: Awaited<ReturnType<typeof versionFor>>): Promise<void> {
  const stop = {
    git: 'case "$*" in "update-ref "*) exit 1 ;; esac',
    xargs: 'case " $* " in *" remove "*) exit 125 ;; esac',
  };
  await expect(runBehind(folders, stop, merge)).rejects.toThrow(/could not be put right/);
}

/** Creates an interrupted merge whose process is gone. */
async function cutOff(version: Awaited<ReturnType<typeof versionFor>>): Promise<void> {
  const { sample } = version;
  await cutOffHere(version);
  for (const keep of keepsIn(sample.path))
    writeFileSync(keep, readFileSync(keep, 'latin1').replace(`.${process.pid}.`, `.${NOBODY}.`));
}

function collect(sample: SampleRepository): void {
  rmSync(join(sample.path, '.git/index.lock'), { force: true });
  sample.git('reflog', 'expire', '--expire=now', '--all');
  sample.git('gc', '-q', '--prune=now');
}

describe('a merge', () => {
  it.each(['read-tree -m -u', 'update-ref'])('keeps its objects when garbage is collected at its %s', async (step) => {
    const { sample, version, merge } = await versionFor({ 'a.txt': 'two\n', 'new.txt': 'new\n' });
    const garbage = { git: `case "$*" in "${step}"*) ${COLLECT} ;; esac` };
    expect(await runBehind(folders, garbage, merge)).toMatchObject({ success: true });
    expect(sample.git('rev-parse', 'HEAD')).toBe(version);
    expect(sample.git('fsck', '--strict')).toBe('');
    expect(sample.git('status', '--porcelain')).toBe('');
    expect(leftIn(sample.path)).toEqual([]);
  });

  it('is undone after it was interrupted, its lock was removed and garbage was collected', async () => {
    const version = await versionFor({ 'a.txt': 'two\n', 'new.txt': 'new\n' });
    const { sample, merge } = version;
    await cutOff(version);
    expect(sample.git('status', '--porcelain')).toBe('M a.txt\n?? new.txt');
    collect(sample);
    expect(await recoverMerge(sample.path)).toBe('undone');
    expect(sample.git('status', '--porcelain')).toBe('');
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('one\n');
    expect(leftIn(sample.path)).toEqual([]);
    expect(await merge()).toMatchObject({ success: true });
  });

  it('says what to do by hand if git has lost its objects, and works again after that', async () => {
    const { sample, repository, from, to } = await prepare(folders);
    leaveHalfDone(sample, repository, from, to, LISTS);
    collect(sample);
    const recover = () => recoverStage(repository, repository.git);
    await expect(recover()).rejects.toThrow(
      `put right by hand: git has lost ${to}, which it was bringing. Look at 'new.txt', 'a.txt'; as it was before, it is in the ` +
        `commit ${from} and in scratchfs-merge/kept, by the numbers in scratchfs-merge/restored. When it is right, remove ` +
        `scratchfs-merge from git's directory and, while no git is at work, index.lock.`,
    );
    expect(readFileSync(join(sample.path, '.git/scratchfs-merge/kept/0'), 'utf8')).toBe('one\n');
    for (const name of ['scratchfs-merge', 'index.lock'])
      rmSync(join(sample.path, '.git', name), { recursive: true, force: true });
    expect(await recover()).toBe('nothing');
  });

  it('releases its pack if the same process recovers it', async () => {
    const version = await versionFor({ 'a.txt': 'two\n', 'new.txt': 'new\n' });
    await cutOffHere(version);
    expect(await recoverMerge(version.sample.path)).toBe('undone');
    expect(leftIn(version.sample.path)).toEqual([]);
    expect(await version.merge()).toMatchObject({ success: true });
    expect(leftIn(version.sample.path)).toEqual([]);
  });

  it('says what to do by hand also if only the content of a half-written file is lost', async () => {
    const { sample, repository, from, to } = await prepare(folders);
    leaveHalfDone(sample, repository, from, to, LISTS);
    sample.write('new.txt', 'ne');
    const id = sample.git('rev-parse', `${to}:new.txt`);
    rmSync(join(sample.path, '.git/objects', id.slice(0, 2), id.slice(2)));
    await expect(recoverStage(repository, repository.git)).rejects.toThrow(/by hand: git has lost/);
  });

  it('is dropped if git has lost its objects and it had not begun', async () => {
    const { sample, repository, from, to } = await prepare(folders);
    leaveHalfDone(sample, repository, from, to, LISTS);
    rmSync(join(sample.path, '.git/scratchfs-merge/begun'));
    collect(sample);
    sample.git('reset', '-q', '--hard');
    expect(await recoverStage(repository, repository.git)).toBe('undone');
    expect(leftIn(sample.path)).toEqual([]);
  });
});

describe('keepPack() and letPacksGo()', () => {
  async function withPack(): Promise<{ sample: SampleRepository; repository: GitRepository; pack: Buffer }> {
    const sample = folders.repository();
    const repository = (await findRepository(sample.path)) as GitRepository;
    const { stdout } = await repository.git.run(['pack-objects', '--stdout', '-q', '--revs'], { input: 'HEAD\n' });
    return { sample, repository, pack: stdout };
  }

  it('keep a pack until its merge ends, and never for two', async () => {
    const { sample, repository, pack } = await withPack();
    const other = 'ab'.repeat(12);
    expect(await keepPack(repository, pack, ID)).toBe(true);
    expect(await keepPack(repository, pack, other)).toBe(false);
    letPacksGo(repository, other);
    letPacksGo(repository);
    expect(keepsIn(sample.path)).toHaveLength(1);
    letPacksGo(repository, ID);
    expect(keepsIn(sample.path)).toEqual([]);
    expect(await keepPack(repository, pack, other)).toBe(true);
  });

  it('leave a pack alone that the user keeps', async () => {
    const { sample, repository, pack } = await withPack();
    expect(await keepPack(repository, pack, ID)).toBe(true);
    const [keep] = keepsIn(sample.path) as [string];
    for (const text of ['', 'mine\n', 'x'.repeat(300)]) {
      writeFileSync(keep, text);
      expect(await keepPack(repository, pack, ID)).toBe(true);
      letPacksGo(repository, ID);
      expect(existsSync(keep)).toBe(true);
    }
  });

  it('release the packs of dead processes, unless their stage lies in any work tree', async () => {
    const { sample, repository, pack } = await withPack();
    const linked = folders.folder();
    sample.git('worktree', 'add', '-q', '-f', '-b', 'side', linked);
    expect(await keepPack(repository, pack, ID)).toBe(true);
    const [keep] = keepsIn(sample.path) as [string];
    writeFileSync(keep, draftNameOf(ID).replace(`.${process.pid}.`, `.${NOBODY}.`));
    const [tree] = readdirSync(join(sample.path, '.git/worktrees')) as [string];
    const stage = join(sample.path, '.git/worktrees', tree, 'scratchfs-merge');
    mkdirSync(stage);
    const head = sample.git('rev-parse', 'HEAD');
    writeFileSync(join(stage, 'plan'), JSON.stringify(planFor(head, head)));
    letPacksGo(repository);
    letPacksGo(repository, ID);
    expect(existsSync(keep)).toBe(true);
    rmSync(stage, { recursive: true });
    letPacksGo(repository);
    expect(existsSync(keep)).toBe(false);
  });
});
