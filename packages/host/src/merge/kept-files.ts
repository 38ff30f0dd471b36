import { constants, type Stats } from 'node:fs';
import { copyFile, link, lstat, mkdir, readlink, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { absent, isCode } from '../host-error.js';

/** What a file system answers that has no hard links, not there or not for this file. */
const NO_LINK = ['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/**
 * Keeps what a merge is to change or to remove in a directory, under the numbers of the paths, so that undoing it needs neither git
 * nor room on the disk. A file is kept by another name of it: git puts a new one into its place, and so the very file comes back, with
 * owner, times, attributes and other names. Where there are no hard links it is a copy.
 * @returns the first path at which there is no file, link or directory any more
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
    // Of a submodule.
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
