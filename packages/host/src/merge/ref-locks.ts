import { lstatSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { GitRepository } from '../git/git-repository.js';
import { isCode } from '../host-error.js';
import { isPathSafe } from '../is-path-safe.js';

/** Ten times as long as git itself waits for the lock of a reference (`core.filesRefLockTimeout`). */
const HELD_MS = 1_000;

/** What such a lock can hold: an id of SHA-256 and a line end. */
const LONGEST = 65;

/**
 * Removes the locks of references that a killed `git update-ref HEAD` has left: git never does. Which lock is whose cannot be
 * read from it, so those count that are no older than that command and that stay for longer than anybody needs one. What lies behind a link that leads
 * out of the repository, or holds what git writes into no such lock, is not removed: the branch's name may come from somebody else.
 */
export async function removeLeftRefLocks(
  { git, gitDirectory, commonDirectory }: GitRepository,
  begunAtMs: number,
): Promise<void> {
  const branch = (await git.run(['symbolic-ref', '-q', 'HEAD'], { accept: [0, 1] })).stdout.toString('utf8').trimEnd();
  const locks = [join(gitDirectory, 'HEAD.lock')];
  if (branch !== '' && isPathSafe(dirname(branch), commonDirectory))
    locks.push(join(commonDirectory, `${branch}.lock`));
  const left = locks
    .map((path) => ({ path, lock: lockAt(path) }))
    .filter(({ lock }) => lock && lock.madeAtMs >= begunAtMs);
  if (left.length === 0) return;
  await wait(HELD_MS);
  for (const { path, lock } of left) if (lockAt(path)?.inode === lock?.inode) await rm(path, { force: true });
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
