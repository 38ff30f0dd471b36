import { chmod, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { Anchor } from './anchor.js';
import { isCode } from './host-error.js';

/** Answers a path that nothing has yet, on the same disk. */
export type MakePlace = () => Promise<string>;

/**
 * Removes what lies at a place, whatever it is. Links are not followed: a directory is held while it is emptied, and the
 * directories in it are moved to places of their own first, so that depth costs neither descriptors nor stack.
 */
export async function removeTree(place: string, makePlace: MakePlace): Promise<void> {
  const pending = [place];
  let rounds = 0;
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (await isRemovedAtOnce(at)) continue;
    if (++rounds > MAX_ROUNDS) throw Object.assign(new Error('Names are added faster than removed'), { code: 'EBUSY' });
    pending.push(at, ...(await emptied(at, makePlace)));
  }
}

/** Directories that are emptied again because somebody puts names into them meanwhile end here. */
const MAX_ROUNDS = 10_000_000;

/** @returns where the directories that were in it lie now */
async function emptied(place: string, makePlace: MakePlace): Promise<string[]> {
  using directory = Anchor.at(place);
  if (directory.kind !== 'directory') {
    // Swapped meanwhile, or nobody may remove it: then this says so.
    await unlink(place);
    return [];
  }
  const moved: string[] = [];
  // What is to be removed need not be protected from that.
  if ((directory.stat.mode & 0o700n) !== 0o700n) await chmod(directory.path, 0o700);
  // As bytes: a name need not be text.
  for (const name of await readdir(directory.path, { encoding: 'buffer' })) {
    const child = Buffer.concat([Buffer.from(`${directory.path}/`), name]);
    if (await isRemovedAtOnce(child)) continue;
    const next = await makePlace();
    await rename(child, next);
    moved.push(next);
  }
  return moved;
}

/** True where it was no directory, an empty one, or is not there. */
async function isRemovedAtOnce(path: string | Buffer): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return true;
    // Linux says EISDIR of a directory, POSIX has EPERM.
    if (!isCode(error, 'EISDIR', 'EPERM')) throw error;
  }
  try {
    await rmdir(path);
    return true;
  } catch (error) {
    if (isCode(error, 'ENOTEMPTY', 'EEXIST', 'EACCES', 'ENOTDIR')) return false;
    throw error;
  }
}
