import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { quote } from '@scratchfs/core';
import type { Git } from '../git/git.js';
import type { GitRepository } from '../git/git-repository.js';

/** Names in git's directory that mark an unfinished operation, and the operation's name. */
export const HALF_DONE: readonly (readonly [name: string, what: string])[] = [
  ['MERGE_HEAD', 'a merge'],
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase, or patches being applied'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  ['sequencer', 'a cherry-pick or revert of several commits'],
  ['BISECT_LOG', 'a bisection'],
];

const MAX_LISTED_PATHS = 5;

export function listOf(paths: readonly string[]): string {
  const shown = paths.slice(0, MAX_LISTED_PATHS).map((path) => quote(path));
  return paths.length > MAX_LISTED_PATHS
    ? `${shown.join(', ')} and ${paths.length - MAX_LISTED_PATHS} more`
    : shown.join(', ');
}

/**
 * Returns the full name of the branch that `HEAD` refers to, such as `refs/heads/main`; undefined if `HEAD` is
 * detached.
 */
export async function branchOf({ git }: GitRepository, signal?: AbortSignal): Promise<string | undefined> {
  const { stdout } = await git.run(['symbolic-ref', '-q', 'HEAD'], { accept: [0, 1], signal });
  return stdout.toString('utf8').trimEnd() || undefined;
}

/** Returns a sentence that says why nothing may be merged into a repository now; undefined if nothing prevents it. */
export async function reasonAgainst(
  repository: GitRepository,
  branch: string,
  checking: Git,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { git, gitDirectory, commonDirectory, workTree } = repository;
  const head = await git.run(['rev-parse', '-q', '--verify', 'HEAD'], { accept: [0, 1, 128], signal });
  if (head.exitCode !== 0) return 'The repository has no commit yet, so there is nothing to merge with.';
  for (const [name, what] of HALF_DONE)
    if (existsSync(join(gitDirectory, name)))
      return `Half done in the repository is ${what}: finish or abort it first.`;
  for (const lock of [
    join(gitDirectory, 'index.lock'),
    join(gitDirectory, 'HEAD.lock'),
    join(commonDirectory, `${branch}.lock`),
  ])
    if (existsSync(lock))
      return 'The repository is locked: another git is at work in it, or one was killed and left its .lock file.';
  const elsewhere = await otherWorkTreeOf(branch, repository, signal);
  if (elsewhere !== undefined)
    return `The branch is checked out in ${quote(elsewhere)}, whose files would no longer belong to it: merge there.`;
  if (workTree === undefined) return undefined;
  const args = ['status', '--porcelain=v2', '-z', '--untracked-files=no', '--ignore-submodules=dirty', '--no-renames'];
  const lines = await checking.items(args, { signal });
  // The user's settings can add lines about branches and stashes.
  const changed = lines.filter((line) => !line.startsWith('# ')).map(pathOf);
  if (changed.length === 0) return undefined;
  return `There are changes that are not committed: ${listOf(changed)}. Commit or stash them first.`;
}

/**
 * Returns the path of another work tree of a repository in which a branch is checked out. Deleted work trees do not
 * count.
 */
async function otherWorkTreeOf(
  branch: string,
  { git, gitDirectory, commonDirectory, workTree }: GitRepository,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const records = await workTreesOf(git, signal);
  // The first record is the main work tree, under a path that need not be its real one.
  const others = gitDirectory === commonDirectory ? records.slice(1) : records;
  for (const { path: given, lines } of others) {
    const path = await realpath(given).catch(() => undefined);
    if (path !== undefined && path !== workTree && lines.includes(`branch ${branch}`)) return path;
  }
  return undefined;
}

/** Returns the path of a work tree in which a branch is checked out, as git names it. */
export async function workTreeOf(
  branch: string,
  git: Git,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  return (await workTreesOf(git, signal)).find(({ lines }) => lines.includes(`branch ${branch}`))?.path;
}

async function workTreesOf(
  git: Git,
  signal: AbortSignal | undefined,
): Promise<{ readonly path: string; readonly lines: readonly string[] }[]> {
  const records = (await git.text(['worktree', 'list', '--porcelain', '-z'], { signal })).split('\0\0');
  return records.map((record) => {
    const [first = '', ...lines] = record.split('\0');
    return { path: first.slice('worktree '.length), lines };
  });
}

/** Returns the path in a line of `git status --porcelain=v2` without renames. */
function pathOf(line: string): string {
  const fields = line.startsWith('u ') ? 10 : 8;
  return line.split(' ').slice(fields).join(' ');
}
