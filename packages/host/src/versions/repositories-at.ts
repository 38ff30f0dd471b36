import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Whether anything lies at a path, also a link that leads nowhere now: the disk it leads to may not be there today. */
export function isAt(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Whether a directory is one of git's own, as a bare repository is and `.git`, going by what git takes for one. */
export function isGitDirectory(path: string): boolean {
  const isDirectory = (name: string): boolean =>
    lstatSync(join(path, name), { throwIfNoEntry: false })?.isDirectory() === true;
  return isAt(join(path, 'HEAD')) && isDirectory('objects') && isDirectory('refs');
}

/** Whether a directory is one of git's own or lies in one. */
export function isInGitDirectory(path: string): boolean {
  return isGitDirectory(path) || (dirname(path) !== path && isInGitDirectory(dirname(path)));
}
