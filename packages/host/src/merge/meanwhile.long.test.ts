import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { apply, prepare, runBehind } from '../testing/left-merges.js';
import { stateOf } from '../testing/repository-state.js';
import { SampleFolders, type SampleRepository } from '../testing/sample-repository.js';
import { HostHistory } from '../versions/host-history.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());

const leftIn = (gitDirectory: string): string[] =>
  readdirSync(gitDirectory).filter((name) => /scratchfs|\.lock$/.test(name));

describe('what somebody does between the checks of a merge and its lock', () => {
  it.each([
    [
      'commits one of its new files',
      (sample: SampleRepository) => {
        sample.commit({ 'new.txt': 'new\n' }, 'the same');
      },
    ],
    ['brings the merge himself', (sample: SampleRepository, to: string) => sample.git('merge', '-q', '--ff-only', to)],
    ['checks out a commit', (sample: SampleRepository) => sample.git('checkout', '-q', '--detach')],
    ['checks out another branch', (sample: SampleRepository) => sample.git('checkout', '-q', '-b', 'feature')],
    [
      'begins a merge of his own',
      (sample: SampleRepository) => {
        sample.git('checkout', '-q', '-b', 'other');
        sample.commit({ 'c.txt': 'c\n' }, 'of other');
        sample.git('checkout', '-q', 'main');
        sample.git('merge', '-q', '--no-commit', '--no-ff', 'other');
      },
    ],
  ])('stays as it is where he %s', async (_what, act) => {
    const { sample, repository, from, to } = await prepare(folders);
    act(sample, to);
    const before = stateOf(sample.path);
    expect(await apply(repository, from, to)).toEqual({
      done: false,
      why: expect.stringMatching(/^Somebody has just committed, checked out/),
    });
    expect(stateOf(sample.path)).toEqual(before);
    expect(leftIn(repository.gitDirectory)).toEqual([]);
  });

  it('is asked of the branch that was looked at', async () => {
    const { sample, repository, from, to } = await prepare(folders);
    await using versions = new HostHistory();
    await versions.onboardRepo(sample.path);
    const someone = `case "$*" in pack-objects*) git -C '${sample.path}' symbolic-ref HEAD refs/heads/feature && git -C '${sample.path}' update-ref refs/heads/feature ${from} ;; esac`;
    const result = await runBehind(folders, { git: someone.replaceAll('git -C', '$real -C') }, () =>
      versions.executeMerge(sample.path, to),
    );
    expect(result).toMatchObject({ success: false, message: expect.stringMatching(/^Somebody has just/) });
    expect([sample.git('rev-parse', 'main'), sample.git('rev-parse', 'feature')]).toEqual([from, from]);
    expect(readFileSync(join(sample.path, 'a.txt'), 'utf8')).toBe('one\n');
    expect(leftIn(repository.gitDirectory)).toEqual([]);
  });
});
