import { constants, type Stats } from 'node:fs';
import { copyFile, lstat, mkdir, readlink, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../host-error.js';

/**
 * Copies what a merge is to change or to remove into a directory, under the numbers of the paths, so that undoing it needs neither git
 * nor room on the disk, and brings the very bytes back.
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
    if (stat?.isFile()) await copy(from, to, stat);
    else if (stat?.isSymbolicLink()) await symlink(await readlink(from, 'buffer'), to);
    // Of a submodule.
    else if (stat?.isDirectory()) await mkdir(to);
    else return path;
  }
  return undefined;
}

async function copy(from: string, to: string, { atime, mtime }: Stats): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await utimes(to, atime, mtime);
}
