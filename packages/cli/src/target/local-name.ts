import { basename } from 'node:path';

/**
 * Returns the last name of a path of the disk; undefined if it is empty, `.` or `..`, and for `-`, which is standard
 * input.
 */
export function localName(path: string): string | undefined {
  const name = basename(path);
  return path === '-' || name === '' || name === '.' || name === '..' ? undefined : name;
}
