import { resolve } from 'node:path';

/**
 * Returns the absolute form of a path that the caller passed.
 * @throws TypeError for an empty path: an unset variable would otherwise mean the working directory of the process
 */
export function givenPath(path: string): string {
  if (path === '') throw new TypeError('The path of the directory must not be empty');
  return resolve(path);
}
