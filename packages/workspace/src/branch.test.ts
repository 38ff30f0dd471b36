import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkBranch, currentHead } from './branch.js';

let directory: string;
const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-c', 'init.defaultBranch=main', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'branch-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const switched = expect.objectContaining({ code: 'branch-switched' });

it('a plain folder has no HEAD, and nothing is checked', () => {
  expect(currentHead(directory)).toBeUndefined();
  git(directory, 'init', '-q');
  expect(() => checkBranch('calm-otter', undefined, directory)).not.toThrow();
});

it('currentHead() reads branches, unborn ones and those with a slash included, from any directory inside', () => {
  git(directory, 'init', '-q');
  expect(currentHead(directory)).toEqual({ kind: 'branch', name: 'main' });
  git(directory, 'commit', '-q', '--allow-empty', '-m', 'x');
  git(directory, 'switch', '-q', '-c', 'feature/über');
  mkdirSync(join(directory, 'deep/er'), { recursive: true });
  expect(currentHead(join(directory, 'deep/er'))).toEqual({ kind: 'branch', name: 'feature/über' });
});

it('checkBranch() refuses another branch and names the three ways on', () => {
  git(directory, 'init', '-q');
  git(directory, 'commit', '-q', '--allow-empty', '-m', 'x');
  const start = currentHead(directory);
  git(directory, 'commit', '-q', '--allow-empty', '-m', 'y');
  expect(() => checkBranch('calm-otter', start, directory)).not.toThrow();
  git(directory, 'switch', '-q', '-c', 'other');
  expect(() => checkBranch('calm-otter', start, directory)).toThrow(switched);
  expect(() => checkBranch('calm-otter', start, directory)).toThrow(
    /'other'.*calm-otter.*'main'.*git switch main.*fork.*: scratchfs refresh --onto/,
  );
  git(directory, 'switch', '-q', 'main');
  expect(() => checkBranch('calm-otter', start, directory)).not.toThrow();
});

it('a detached HEAD may move by commits, and is a switch from and to a branch', () => {
  git(directory, 'init', '-q');
  git(directory, 'commit', '-q', '--allow-empty', '-m', 'x');
  const onBranch = currentHead(directory);
  git(directory, 'checkout', '-q', '--detach');
  const detached = currentHead(directory);
  expect(detached).toEqual({ kind: 'detached', during: undefined });
  expect(() => checkBranch('a', onBranch, directory)).toThrow(switched);
  git(directory, 'commit', '-q', '--allow-empty', '-m', 'y');
  expect(() => checkBranch('a', detached, directory)).not.toThrow();
  git(directory, 'switch', '-q', 'main');
  expect(() => checkBranch('a', detached, directory)).toThrow(switched);
});

it('during a rebase the message says to finish it', () => {
  git(directory, 'init', '-q');
  writeFileSync(join(directory, 'f'), '1');
  git(directory, 'add', '.');
  git(directory, 'commit', '-q', '-m', '1');
  const start = currentHead(directory);
  git(directory, 'branch', 'upstream');
  writeFileSync(join(directory, 'f'), '2');
  git(directory, 'commit', '-qam', '2');
  git(directory, 'switch', '-q', 'upstream');
  writeFileSync(join(directory, 'f'), '3');
  git(directory, 'commit', '-qam', '3');
  git(directory, 'switch', '-q', 'main');
  expect(() => git(directory, 'rebase', 'upstream')).toThrow();
  expect(currentHead(directory)).toEqual({ kind: 'detached', during: 'main' });
  expect(() => checkBranch('a', start, directory)).toThrow(/finish the rebase of 'main'/);
  git(directory, 'rebase', '--abort');
  expect(() => checkBranch('a', start, directory)).not.toThrow();
});

it('a linked work tree and a submodule have a HEAD of their own', () => {
  const main = join(directory, 'main');
  mkdirSync(main);
  git(main, 'init', '-q');
  git(main, 'commit', '-q', '--allow-empty', '-m', 'x');
  git(main, 'worktree', 'add', '-q', '-b', 'linked', join(directory, 'linked'));
  expect(currentHead(join(directory, 'linked'))).toEqual({ kind: 'branch', name: 'linked' });
  expect(currentHead(main)).toEqual({ kind: 'branch', name: 'main' });
  const outer = join(directory, 'outer');
  mkdirSync(outer);
  git(outer, 'init', '-q');
  git(outer, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', main, 'sub');
  git(join(outer, 'sub'), 'switch', '-q', '-c', 'inner');
  expect(currentHead(join(outer, 'sub'))).toEqual({ kind: 'branch', name: 'inner' });
});

it('HEAD can be a link, as in old repositories, and strange files named .git are no repository', () => {
  git(directory, 'init', '-q');
  rmSync(join(directory, '.git/HEAD'));
  symlinkSync('refs/heads/old', join(directory, '.git/HEAD'));
  expect(currentHead(directory)).toEqual({ kind: 'branch', name: 'old' });
  for (const content of ['', 'gitdir:', 'x'.repeat(10_000), '\0\uffff']) {
    rmSync(join(directory, '.git'), { recursive: true, force: true });
    writeFileSync(join(directory, '.git'), content);
    expect(currentHead(directory)).toBeUndefined();
  }
});

it('a branch with characters that a terminal obeys is quoted in the message', () => {
  git(directory, 'init', '-q');
  git(directory, 'commit', '-q', '--allow-empty', '-m', 'x');
  git(directory, 'switch', '-q', '-c', 'a\u202eb;rm');
  const start = currentHead(directory);
  git(directory, 'switch', '-q', 'main');
  const error = (() => {
    try {
      return checkBranch('a', start, directory);
    } catch (thrown) {
      return thrown as Error;
    }
  })();
  expect(error?.message).not.toMatch(/\u202e/);
});
