import { resolve } from 'node:path';

/**
 * The absolute form of a path that a caller names.
 * @throws TypeError for an empty one: a variable that is not set would stand for the directory in which the process works
 */
export function givenPath(path: string): string {
  if (path === '') throw new TypeError('The path of a directory is needed, and this one is empty');
  return resolve(path);
}
