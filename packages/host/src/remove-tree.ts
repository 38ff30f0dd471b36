import { lstatSync } from 'node:fs';
import { chmod, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { isCode } from './host-error.js';
import { PathHandle, rawPath } from './path-handle.js';

/** Returns an unused path on the same disk. */
export type MakePlace = () => Promise<string>;

/**
 * Removes a file, link or directory with its contents. Links are not followed, and a directory is held open while it is
 * emptied. The non-empty directories in it are moved to paths of their own, so that depth costs neither descriptors nor
 * stack.
 */
export async function removeTree(place: string, makePlace: MakePlace): Promise<void> {
  if (await isRemovedAtOnce(place)) return;
  const pending = [place];
  let rounds = 0;
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (++rounds > MAX_ROUNDS) throw Object.assign(new Error('Names are added faster than removed'), { code: 'EBUSY' });
    const moved = await emptied(at, makePlace);
    if (!(await isRemovedAtOnce(at))) pending.push(at);
    pending.push(...moved);
  }
}

/**
 * Maximum number of directories emptied, counting those emptied again because other processes add names concurrently.
 */
const MAX_ROUNDS = 10_000_000;

/** Empties a directory. Returns the paths to which the directories in it that are not empty were moved. */
async function emptied(place: string, makePlace: MakePlace): Promise<string[]> {
  using directory = PathHandle.find(place);
  if (directory === undefined) return [];
  if (directory.kind !== 'directory') {
    // Not a directory: either swapped concurrently, or its removal was refused, and `unlink` reports the reason.
    await unlink(place);
    return [];
  }
  const moved: string[] = [];
  // The directory is about to be deleted, so widening its mode is safe.
  if ((directory.stat.mode & 0o700n) !== 0o700n) await chmod(directory.path, 0o700);
  for (const name of await bytesOfNames(directory)) {
    const child = rawPath(directory.path, name);
    if (await isRemovedAtOnce(child)) continue;
    const next = await makePlace();
    await rename(child, next);
    moved.push(next);
  }
  return moved;
}

/** Returns names as bytes: a name need not be UTF-8, and Node decodes invalid bytes as U+FFFD. */
async function bytesOfNames(directory: PathHandle): Promise<Buffer[]> {
  const names = await directory.names();
  if (names.some((name) => name.includes('\ufffd'))) return readdir(directory.path, { encoding: 'buffer' });
  return names.map((name) => Buffer.from(name));
}

/** Returns true if the entry was a file, a link or an empty directory and is removed, or does not exist. */
async function isRemovedAtOnce(path: string | Buffer): Promise<boolean> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return true;
  try {
    await (stat.isDirectory() ? rmdir(path) : unlink(path));
    return true;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return true;
    // A directory that has replaced the file makes `unlink` fail with EISDIR on Linux, with EPERM in POSIX.
    const kept = stat.isDirectory() ? ['ENOTEMPTY', 'EEXIST', 'EACCES', 'ENOTDIR'] : ['EISDIR', 'EPERM'];
    if (isCode(error, ...kept)) return false;
    throw error;
  }
}
