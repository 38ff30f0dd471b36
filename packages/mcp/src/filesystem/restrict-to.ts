import { type FileSystem, FsError, isWithin } from '@scratchfs/core';
import { type Guard, restrict } from '@scratchfs/core/layers';

/**
 * Returns a filesystem that reaches only what lies in some directories of another, also through links. The directories
 * above these can be looked at, without their other entries. Every use of a path is checked, so a link that changes
 * after an earlier check does not lead outside.
 * @param directories normalized paths; with `/` the filesystem itself is returned
 */
export function restrictTo(fs: FileSystem, directories: readonly string[]): FileSystem {
  if (directories.includes('/')) return fs;
  const isInside = (path: string): boolean => directories.some((directory) => isWithin(path, directory));
  const isOnTheWay = (path: string): boolean => directories.some((directory) => isWithin(directory, path));
  const guard: Guard = {
    check({ path, access, kind, syscall, given }) {
      if (isInside(path) || (access === 'look' && kind !== 'file' && isOnTheWay(path))) return;
      throw new FsError('EACCES', { syscall, path: given, hint: 'It lies outside of the allowed directories' });
    },
    isVisible: (path) => isInside(path) || isOnTheWay(path),
    coversTree: isInside,
  };
  return restrict(fs, guard);
}
