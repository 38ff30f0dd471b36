import { lstatSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { GitRepository } from '../git/git-repository.js';
import { isCode } from '../host-error.js';
import { isPathSafe } from '../is-path-safe.js';
import { branchOf } from './work-tree-state.js';

/** Ten times as long as git itself waits for the lock of a reference (`core.filesRefLockTimeout`). */
const HELD_MS = 1_000;

/** What such a lock can hold: an id of SHA-256 and a line end. */
const LONGEST = 65;

/**
 * Removes the locks of references that a killed `git update-ref HEAD` has left: git never does. Which lock is whose cannot be
 * read from it, so those count that are no older than that command and that stay for longer than anybody needs one. What lies behind a link that leads
 * out of the repository, or holds what git writes into no such lock, is not removed: the branch's name may come from somebody else.
 */
export async function removeLeftRefLocks(repository: GitRepository, begunAtMs: number): Promise<void> {
  const left = (await refLocksOf(repository)).filter(({ lock }) => lock.madeAtMs >= begunAtMs);
  if (left.length === 0) return;
  await wait(HELD_MS);
  for (const { path, lock } of left) if (lockAt(path)?.inode === lock.inode) await rm(path, { force: true });
}

/** The locks that lie on what `HEAD` stands for. */
export async function refLocksOf(repository: GitRepository) {
  const { gitDirectory, commonDirectory } = repository;
  const branch = await branchOf(repository);
  const paths = [join(gitDirectory, 'HEAD.lock')];
  if (branch !== undefined && isPathSafe(dirname(branch), commonDirectory))
    paths.push(join(commonDirectory, `${branch}.lock`));
  return paths.flatMap((path) => {
    const lock = lockAt(path);
    return lock === undefined ? [] : [{ path, lock }];
  });
}

function lockAt(path: string): { readonly inode: number; readonly madeAtMs: number } | undefined {
  try {
    const stat = lstatSync(path);
    if (!stat.isFile() || stat.size > LONGEST || !/^[\da-f]*\n?$/.test(readFileSync(path, 'latin1'))) return undefined;
    return { inode: stat.ino, madeAtMs: stat.mtimeMs };
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
