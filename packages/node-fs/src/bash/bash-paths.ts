import { FsError } from '@scratchfs/core';

/** `..` and `.` resolved in text, as the shell does before it asks for a path. Only `/` separates. */
export function resolvePath(base: string, path: string): string {
  const segments: string[] = [];
  for (const name of (path.startsWith('/') ? path : `${base}/${path}`).split('/')) {
    if (name === '..') segments.pop();
    else if (name !== '' && name !== '.') segments.push(name);
  }
  return `/${segments.join('/')}`;
}

/** The directory that a resolved path is in. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}

/** A path that is only looked at. With a backslash in it it cannot exist. */
export function toLookAt(path: string, syscall: string): string {
  if (path.includes('\\')) throw new FsError('ENOENT', { syscall, path });
  return resolvePath('/', path);
}

/** A path that something is made at. To the filesystem a backslash separates: the file would appear elsewhere. */
export function toMake(path: string, syscall: string): string {
  if (path.includes('\\')) {
    throw new FsError('EINVAL', { syscall, path, hint: 'A name cannot have a backslash in it' });
  }
  return resolvePath('/', path);
}
