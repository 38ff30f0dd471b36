import { FsError } from '@scratchfs/core';

/** Resolves `..` and `.` lexically, as the shell does before it uses a path. Only `/` separates. */
export function resolvePath(base: string, path: string): string {
  const segments: string[] = [];
  for (const name of (path.startsWith('/') ? path : `${base}/${path}`).split('/')) {
    if (name === '..') segments.pop();
    else if (name !== '' && name !== '.') segments.push(name);
  }
  return `/${segments.join('/')}`;
}

/** Returns the parent directory of a resolved path. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}

/** Resolves a path that is only read. A path with a backslash cannot exist. */
export function toLookAt(path: string, syscall: string): string {
  if (path.includes('\\')) throw new FsError('ENOENT', { syscall, path });
  return resolvePath('/', path);
}

/**
 * Resolves a path to create. A backslash is refused, because the filesystem treats it as a separator and the file would
 * appear elsewhere.
 */
export function toMake(path: string, syscall: string): string {
  if (path.includes('\\')) {
    throw new FsError('EINVAL', { syscall, path, hint: 'A name cannot have a backslash in it' });
  }
  return resolvePath('/', path);
}
