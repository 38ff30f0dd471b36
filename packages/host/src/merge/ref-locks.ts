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

/** Maximum bytes of a lock's content: a SHA-256 id and a line end. */
const MAX_LOCK_BYTES = 65;

/**
 * Removes reference locks left by a killed `git update-ref`; git does not remove them. A lock does not name its owner,
 * so a lock counts as left if it is not older than that command and stays much longer than git usually needs one. A
 * lock behind a link that leads out of the repository, or with content that git does not write into a lock, is not
 * removed: the name of the branch may come from an untrusted person.
 */
export async function removeLeftRefLocks(repository: GitRepository, begunAtMs: number): Promise<void> {
  const left = (await refLocksOf(repository)).filter(({ lock }) => lock.madeAtMs >= begunAtMs);
  if (left.length === 0) return;
  await wait(HELD_MS);
  for (const { path, lock } of left) if (lockAt(path)?.inode === lock.inode) await rm(path, { force: true });
}

/** Returns the locks of `HEAD` and of the branch that it refers to. */
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
    if (!stat.isFile() || stat.size > MAX_LOCK_BYTES || !/^[\da-f]*\n?$/.test(readFileSync(path, 'latin1')))
      return undefined;
    return { inode: stat.ino, madeAtMs: stat.mtimeMs };
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
