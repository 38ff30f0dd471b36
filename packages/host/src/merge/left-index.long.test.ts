import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findRepository } from '../git/git-repository.js';
import {
  apply,
  type Held,
  leaveHalfDone,
  leaveIndexed,
  leaveMoved,
  prepare,
  runBehind,
} from '../testing/left-merges.js';
import { stateOf } from '../testing/repository-state.js';
import { SampleFolders } from '../testing/sample-repository.js';
import { recoverStage } from './stage.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());

const LISTS = { added: ['new.txt'], restored: ['a.txt'], directories: [] };

/** Creates an interrupted merge, with the lock of the index or without it, as if the user had removed it. */
async function left(how: typeof leaveIndexed, { isLocked = false } = {}) {
  const prepared = await prepare(folders);
  const { sample, repository, from, to } = prepared;
  const before = stateOf(sample.path);
  how(sample, repository, from, to, LISTS);
  if (!isLocked) rmSync(join(repository.gitDirectory, 'index.lock'));
  const recover = async () => {
    const recovery = await recoverStage(repository, repository.git);
    expect(readdirSync(repository.gitDirectory).filter((name) => /scratchfs|lock/.test(name))).toEqual([]);
    return recovery;
  };
  return { ...prepared, before, recover };
}

describe('a merge interrupted between the index and the branch', () => {
  it.each([true, false])('is undone together with the index, whether its lock exists (%s)', async (isLocked) => {
    const { before, sample, recover } = await left(leaveIndexed, { isLocked });
    expect(await recover()).toBe('undone');
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('is undone on a full disk', async () => {
    const { before, sample, repository } = await left(leaveIndexed, { isLocked: true });
    const full = `trap '' XFSZ; ulimit -f 0`;
    const recovered = runBehind(folders, { ln: full, mv: full, xargs: full }, () =>
      recoverStage(repository, repository.git),
    );
    expect(await recovered).toBe('undone');
    expect(stateOf(sample.path)).toEqual(before);
  });

  it('is undone in an index that the user has written since, and other staged changes stay', async () => {
    const { sample, recover } = await left(leaveIndexed);
    sample.write('b.txt', 'mine\n');
    sample.write('meant.txt', 'not yet\n');
    sample.git('add', 'b.txt');
    sample.git('add', '-N', 'meant.txt');
    expect(await recover()).toBe('undone');
    expect(sample.git('status', '--porcelain').split('\n')).toEqual(['M  b.txt', ' A meant.txt']);
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('one\n');
  });

  it.each([
    ['committed its files', 'commit -q -m mine', ''],
    ['committed its files and others', '-c user.name=u -c user.email=u@example.com commit -q -a -m mine', ''],
  ])('is kept if the user has %s', async (_what, command, status) => {
    const { sample, to, recover } = await left(leaveIndexed);
    sample.write('b.txt', 'mine\n');
    if (!command.includes('-a')) sample.git('add', 'b.txt');
    sample.git(...command.split(' '));
    expect(await recover()).toBe('nothing');
    expect(sample.git('status', '--porcelain')).toBe(status);
    expect(sample.git('diff', '--name-only', to, 'HEAD')).toBe('b.txt');
  });

  it.each([
    ['a commit of another file alone', ['commit', '-q', 'b.txt', '-m', 'mine']],
    ['a new name of the branch', ['branch', '-m', 'trunk']],
    ['another branch at the same commit', ['checkout', '-q', '-b', 'wip']],
  ])('is undone despite %s', async (_what, command) => {
    const { sample, recover } = await left(leaveIndexed);
    if (command.includes('b.txt')) sample.write('b.txt', 'mine\n');
    sample.git(...command);
    expect(await recover()).toBe('undone');
    expect(sample.git('status', '--porcelain')).toBe('');
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('one\n');
  });

  it('is kept if the user has committed only one of its files', async () => {
    const { sample, recover } = await left(leaveIndexed);
    sample.git('commit', '-q', 'a.txt', '-m', 'mine');
    expect(await recover()).toBe('nothing');
    expect(sample.git('status', '--porcelain')).toBe('A  new.txt');
  });

  it('is left alone if its branch is gone and another branch is checked out', async () => {
    const { sample, recover } = await left(leaveIndexed);
    sample.git('checkout', '-q', '-b', 'wip');
    sample.git('branch', '-D', 'main');
    sample.git('commit', '-q', '-m', 'mine');
    expect(await recover()).toBe('nothing');
    expect(sample.git('status', '--porcelain')).toBe('');
  });

  it('is left alone if the user has staged more changes of a file', async () => {
    const { sample, recover } = await left(leaveIndexed);
    sample.write('a.txt', 'two\nmine\n');
    sample.git('add', 'a.txt');
    expect(await recover()).toBe('nothing');
    expect(sample.git('status', '--porcelain').split('\n')).toEqual(['M  a.txt', 'A  new.txt']);
  });
});

describe('a merge interrupted after the branch moved', () => {
  it('loses nothing if the user commits before it is completed', async () => {
    const { sample, to, recover } = await left(leaveMoved);
    sample.write('b.txt', 'mine\n');
    sample.git('add', 'b.txt');
    sample.git('commit', '-q', '-m', 'mine');
    expect(sample.git('diff', '--name-only', to, 'HEAD')).toBe('b.txt');
    expect(await recover()).toBe('completed');
    expect(sample.git('status', '--porcelain')).toBe('');
  });

  it('keeps the flags that git has for files', async () => {
    const { sample, recover } = await left(leaveMoved);
    sample.git('update-index', '--skip-worktree', 'b.txt');
    sample.write('b.txt', 'local\n');
    sample.write('meant.txt', 'not yet\n');
    sample.git('add', '-N', 'meant.txt');
    const index = sample.git('ls-files', '--stage', '-v');
    expect(await recover()).toBe('completed');
    expect(sample.git('ls-files', '--stage', '-v')).toBe(index);
    expect(sample.git('status', '--porcelain')).toBe('A meant.txt');
  });

  it('of an older version is said to need git reset', async () => {
    const { sample, repository, from, to } = await prepare(folders);
    leaveMoved(sample, repository, from, to, LISTS);
    rmSync(join(repository.gitDirectory, 'scratchfs-merge/before'));
    await expect(recoverStage(repository, repository.git)).rejects.toThrow(/older version .* git reset/);
  });
});

it('a merge that has lost its lock moves no branch', async () => {
  const { sample, repository, from, to } = await prepare(folders);
  const lock = join(repository.gitDirectory, 'index.lock');
  const thief = {
    sync: `[ ! -e '${join(repository.gitDirectory, 'scratchfs-merge/indexed')}' ] || { rm -f '${lock}'; echo >'${lock}'; }`,
  };
  await expect(runBehind(folders, thief, () => apply(repository, from, to))).rejects.toThrow(/locked/);
  expect(sample.git('rev-parse', 'HEAD')).toBe(from);
  rmSync(lock);
  expect(await recoverStage(repository, repository.git)).toBe('undone');
  expect(sample.git('status', '--porcelain')).toBe('');
});

it('a commit is kept out while the owner of the index is determined', async () => {
  const { sample, repository, recover } = await left(leaveHalfDone);
  const someone = `case "$*" in "diff-index "*) $real "$@"; env -u GIT_CONFIG_COUNT $real -C '${sample.path}' -c user.name=u -c user.email=u@example.com commit -q -a -m mine; exit 0 ;; esac`;
  expect(await runBehind(folders, { git: someone }, recover)).toBe('undone');
  expect(sample.git('log', '-1', '--format=%s')).toBe('first');
  expect(sample.git('status', '--porcelain')).toBe('');
  expect(readdirSync(repository.gitDirectory)).not.toContain('index.lock');
});

it('a branch that has moved counts as moved, however the git that moved it exits', async () => {
  const { sample, repository, from, to } = await prepare(folders);
  const killed = { git: 'case "$*" in "update-ref "*) $real "$@"; kill -9 $$ ;; esac' };
  expect(await runBehind(folders, killed, () => apply(repository, from, to))).toEqual({ done: true });
  expect(sample.git('rev-parse', 'HEAD')).toBe(to);
  expect(sample.git('status', '--porcelain')).toBe('');
  expect(readdirSync(repository.gitDirectory).filter((name) => /scratchfs|lock/.test(name))).toEqual([]);
});

it('a commit by a user who removed the lock of a running merge is not undone', async () => {
  const { sample, repository, from, to } = await prepare(folders);
  const lock = join(repository.gitDirectory, 'index.lock');
  const someone = {
    git: `case "$*" in "update-ref -m test "*) rm -f '${lock}'; env -u GIT_INDEX_FILE -u GIT_CONFIG_COUNT $real -C '${sample.path}' -c user.name=u -c user.email=u@example.com commit -q -m mine; exit 1 ;; esac`,
  };
  await runBehind(folders, someone, () => apply(repository, from, to)).catch(() => undefined);
  expect(sample.git('diff', '--name-only', to, 'HEAD')).toBe('');
  expect(sample.git('status', '--porcelain')).toBe('');
  expect(readdirSync(repository.gitDirectory).filter((name) => /scratchfs|lock/.test(name))).toEqual([]);
});

it('a git killed while it moved the branch leaves no locks', async () => {
  const { sample, repository, from, to } = await prepare(folders);
  const before = stateOf(sample.path);
  const locks = ['refs/heads/main.lock', 'HEAD.lock'].map((name) => join(repository.gitDirectory, name));
  const killed = { git: `case "$*" in "update-ref "*) echo >'${locks[0]}'; echo >'${locks[1]}'; kill -9 $$ ;; esac` };
  expect(await runBehind(folders, killed, () => apply(repository, from, to))).toMatchObject({ done: false });
  expect(stateOf(sample.path)).toEqual(before);
  expect(locks.filter((lock) => existsSync(lock))).toEqual([]);
});

it('undoing a merge creates no index in a repository that has never had one', async () => {
  const sample = folders.repository({});
  sample.git('commit', '-q', '--allow-empty', '-m', 'first');
  const from = sample.git('rev-parse', 'HEAD');
  const to = sample.commit({ 'new.txt': 'new\n' }, 'proven');
  sample.git('reset', '-q', '--hard', from);
  const repository = (await findRepository(sample.path)) as Held;
  rmSync(join(repository.gitDirectory, 'index'));
  const refusing = { git: 'case "$*" in "read-tree -m "*) $real "$@"; exit 1 ;; esac' };
  expect(await runBehind(folders, refusing, () => apply(repository, from, to))).toMatchObject({ done: false });
  expect(readdirSync(repository.gitDirectory).filter((name) => /scratchfs|lock|index/.test(name))).toEqual([]);
  expect(readdirSync(sample.path)).toEqual(['.git']);
  expect(sample.git('status', '--porcelain')).toBe('');
});

it('a file that the user has truncated does not count as a partial copy', async () => {
  const { sample, repository, to } = await prepare(folders);
  sample.write('a.txt', 'one\nmore\n');
  sample.git('commit', '-q', '-a', '--amend', '-m', 'first');
  const longer = sample.git('rev-parse', 'HEAD');
  leaveHalfDone(sample, repository, longer, to, LISTS);
  sample.write('a.txt', 'one\n');
  expect(await recoverStage(repository, repository.git)).toBe('undone');
  expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('one\n');
});
