import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { findRepository } from '../git/git-repository.js';
import { apply, type Held, prepare, runBehind } from '../testing/left-merges.js';
import { stateOf } from '../testing/repository-state.js';
import { SampleFolders, type SampleRepository } from '../testing/sample-repository.js';
import { HostHistory } from '../versions/host-history.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());

const leftIn = (gitDirectory: string): string[] =>
  readdirSync(gitDirectory).filter((name) => /scratchfs|\.lock$/.test(name));

describe('a change by the user between the checks of a merge and its lock', () => {
  it.each([
    [
      'commits one of its new files',
      (sample: SampleRepository) => {
        sample.commit({ 'new.txt': 'new\n' }, 'the same');
      },
    ],
    ['makes the same merge', (sample: SampleRepository, to: string) => sample.git('merge', '-q', '--ff-only', to)],
    ['checks out a commit', (sample: SampleRepository) => sample.git('checkout', '-q', '--detach')],
    ['checks out another branch', (sample: SampleRepository) => sample.git('checkout', '-q', '-b', 'feature')],
    [
      'begins another merge',
      (sample: SampleRepository) => {
        sample.git('checkout', '-q', '-b', 'other');
        sample.commit({ 'c.txt': 'c\n' }, 'of other');
        sample.git('checkout', '-q', 'main');
        sample.git('merge', '-q', '--no-commit', '--no-ff', 'other');
      },
    ],
  ])('is kept if the user %s', async (_what, act) => {
    const { sample, repository, from, to } = await prepare(folders);
    act(sample, to);
    const before = stateOf(sample.path);
    expect(await apply(repository, from, to)).toEqual({
      done: false,
      why: expect.stringMatching(/^Another process has just committed, checked out/),
    });
    expect(stateOf(sample.path)).toEqual(before);
    expect(leftIn(repository.gitDirectory)).toEqual([]);
  });

  it('is detected on the branch that was checked', async () => {
    const { sample, repository, from, to } = await prepare(folders);
    await using versions = new HostHistory();
    await versions.onboardRepo(sample.path);
    const someone = `case "$*" in pack-objects*) git -C '${sample.path}' symbolic-ref HEAD refs/heads/feature && git -C '${sample.path}' update-ref refs/heads/feature ${from} ;; esac`;
    const result = await runBehind(folders, { git: someone.replaceAll('git -C', '$real -C') }, () =>
      versions.executeMerge(sample.path, to),
    );
    expect(result).toMatchObject({ success: false, message: expect.stringMatching(/^Another process has just/) });
    expect([sample.git('rev-parse', 'main'), sample.git('rev-parse', 'feature')]).toEqual([from, from]);
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('one\n');
    expect(leftIn(repository.gitDirectory)).toEqual([]);
  });

  it('leaves an ignored file that appears while the merge waits for the disk, and says so', async () => {
    const sample = folders.repository({ '.gitignore': '*.env\n', 'a.txt': 'one\n' });
    const from = sample.git('rev-parse', 'HEAD');
    sample.write('x.env', 'new\n');
    sample.git('add', '-f', 'x.env');
    const to = sample.commit({ 'a.txt': 'two\n' }, 'proven');
    sample.git('reset', '-q', '--hard', from);
    const repository = (await findRepository(sample.path)) as Held;
    const at = join(sample.path, 'x.env');
    const slow = { sync: `[ -e '${at}' ] || echo work >'${at}'` };
    const applied = await runBehind(folders, slow, () => apply(repository, from, to));
    expect(applied).toMatchObject({ done: false, why: expect.stringContaining("in the way: 'x.env'") });
    expect(readFileSync(at, 'utf8')).toBe('work\n');
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('one\n');
  });
});

describe('a merge whose files git cannot remove', () => {
  it('is undone', async () => {
    const files = { 'a.txt': 'one\n', 'd/gone.txt': 'gone\n', 'd/stays.txt': 's\n' };
    const { sample, repository, from, to } = await prepare(folders, files, { 'a.txt': 'two\n' }, ['d/gone.txt']);
    const before = stateOf(sample.path);
    // Simulates git in a directory that is not writable, because root may write everywhere.
    const gone = join(sample.path, 'd/gone.txt');
    const warned = `case "$*" in "read-tree -m -u"*) $real "$@" && echo gone >'${gone}' && echo "warning: unable to unlink 'd/gone.txt'" >&2; exit ;; esac`;
    const applied = await runBehind(folders, { git: warned }, () => apply(repository, from, to));
    expect(applied).toMatchObject({ done: false, why: expect.stringContaining('unable to unlink') });
    expect(stateOf(sample.path)).toEqual(before);
    expect(leftIn(repository.gitDirectory)).toEqual([]);
  });

  it('leaves the target of a link that has replaced a directory', async () => {
    const sample = folders.repository({ 'a.txt': 'one\n', 'd/x': 'x\n', 'e/x': 'x\n' });
    const from = sample.git('rev-parse', 'HEAD');
    sample.git('rm', '-q', '-r', 'd');
    sample.link('d', 'e');
    const to = sample.commit({ 'a.txt': 'two\n' }, 'proven');
    sample.git('reset', '-q', '--hard', from);
    const repository = (await findRepository(sample.path)) as Held;
    expect(await apply(repository, from, to)).toEqual({ done: true });
    expect(sample.git('status', '--porcelain')).toBe('');
    expect(readFileSync(join(sample.path, 'e/x'), 'utf8')).toBe('x\n');
  });
});

it('a merge is refused with a sentence while another one is at work', async () => {
  const { sample, repository, from, to } = await prepare(folders);
  await using versions = new HostHistory();
  await versions.onboardRepo(sample.path);
  const gate = join(folders.folder(), 'open');
  const slow = { git: `case "$*" in "update-ref "*) while ! [ -e '${gate}' ]; do sleep 0.02; done ;; esac` };
  const first = runBehind(folders, slow, () => apply(repository, from, to));
  await vi.waitUntil(() => existsSync(join(repository.gitDirectory, 'scratchfs-merge/moving')), 60_000);
  const second = await versions.executeMerge(sample.path, to).finally(() => writeFileSync(gate, ''));
  expect(second).toMatchObject({ success: false, message: expect.stringMatching(/^Another merge is being brought/) });
  expect(await first).toEqual({ done: true });
  expect(sample.git('status', '--porcelain')).toBe('');
});
