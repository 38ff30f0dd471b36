import { basename } from 'node:path';

/** Returns the last name of a path of the disk; `-`, which stands for standard input, has none. */
export function localName(path: string): string | undefined {
  const name = basename(path);
  return path === '-' || name === '' || name === '.' || name === '..' ? undefined : name;
}
