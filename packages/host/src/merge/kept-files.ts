import { constants, type Stats } from 'node:fs';
import { copyFile, link, lstat, mkdir, readlink, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { absent, isCode } from '../host-error.js';

/** Error codes of a file system that cannot create a hard link, generally or for this file. */
export const NO_LINK = ['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/**
 * Keeps in `directory` the entries that a merge will change or remove, named by the index of their path, so that
 * restoring them needs neither git nor, with hard links, disk space. A file is kept by a hard link: git replaces the
 * file with a new one, so undoing restores the same inode with its owner, times, attributes and other links. Without
 * hard links it is a copy.
 * @returns the first path at which there is no longer a file, link or directory
 */
export async function keepFiles(
  workTree: string,
  directory: string,
  paths: readonly string[],
): Promise<string | undefined> {
  await mkdir(directory);
  for (const [number, path] of paths.entries()) {
    const [from, to] = [join(workTree, path), join(directory, String(number))];
    const stat = await lstat(from).catch(absent);
    if (stat?.isFile()) await keep(from, to, stat);
    else if (stat?.isSymbolicLink()) await symlink(await readlink(from, 'buffer'), to);
    // The directory of a submodule.
    else if (stat?.isDirectory()) await mkdir(to);
    else return path;
  }
  return undefined;
}

async function keep(from: string, to: string, { atime, mtime }: Stats): Promise<void> {
  try {
    return await link(from, to);
  } catch (error) {
    if (!isCode(error, ...NO_LINK)) throw error;
  }
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await utimes(to, atime, mtime);
}
