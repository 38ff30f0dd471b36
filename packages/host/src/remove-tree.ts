import { lstatSync } from 'node:fs';
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

/** Directories that are emptied again because somebody puts names into them meanwhile end here. */
const MAX_ROUNDS = 10_000_000;

/** @returns where the directories that were in it, and hold something, lie now */
async function emptied(place: string, makePlace: MakePlace): Promise<string[]> {
  using directory = heldAt(place);
  if (directory === undefined) return [];
  if (directory.kind !== 'directory') {
    // Swapped meanwhile, or nobody may remove it: then this says so.
    await unlink(place);
    return [];
  }
  const moved: string[] = [];
  // What is to be removed need not be protected from that.
  if ((directory.stat.mode & 0o700n) !== 0o700n) await chmod(directory.path, 0o700);
  for (const name of await bytesOfNames(directory)) {
    const child = Buffer.concat([Buffer.from(`${directory.path}/`), name]);
    if (await isRemovedAtOnce(child)) continue;
    const next = await makePlace();
    await rename(child, next);
    moved.push(next);
  }
  return moved;
}

/** Undefined for what somebody else has removed. */
function heldAt(place: string): Anchor | undefined {
  try {
    return Anchor.at(place);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** A name need not be text: U+FFFD is told of what is none. */
async function bytesOfNames(directory: Anchor): Promise<Buffer[]> {
  const names = await directory.names();
  if (names.some((name) => name.includes('\ufffd'))) return readdir(directory.path, { encoding: 'buffer' });
  return names.map((name) => Buffer.from(name));
}

/** True where it was no directory, an empty one, or is not there. */
async function isRemovedAtOnce(path: string | Buffer): Promise<boolean> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return true;
  try {
    await (stat.isDirectory() ? rmdir(path) : unlink(path));
    return true;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return true;
    // A directory that has come in its place meanwhile is EISDIR to unlink on Linux, EPERM in POSIX.
    const kept = stat.isDirectory() ? ['ENOTEMPTY', 'EEXIST', 'EACCES', 'ENOTDIR'] : ['EISDIR', 'EPERM'];
    if (isCode(error, ...kept)) return false;
    throw error;
  }
}
