import { basename } from 'node:path';

/** Returns the last name of a path of the disk; undefined for `/`, `.`, `..`, and `-`, which is standard input. */
export function localName(path: string): string | undefined {
  const name = basename(path);
  return path === '-' || name === '' || name === '.' || name === '..' ? undefined : name;
}
