import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import type { IFileSystem } from 'just-bash';
import { BashFs } from './bash-fs.js';

/**
 * Wraps a filesystem for the shell of just-bash: `new Bash({ fs: createBashFs(fileSystem), cwd: '/' })`.
 *
 * Any filesystem works, layers and asynchronous storages included; the default is a new one in memory. The calls of the
 * wrapper run outside the context of the script, so that the shell's defences (`defenseInDepth`) do not affect them.
 *
 * - `/dev/null`, `/dev/zero`, `/dev/tty` and the standard streams exist for scripts without being in the filesystem.
 *   Files that the shell keeps under `/dev/fd` for `<(list)`, or a script under another device name, are kept in
 *   separate memory within the same limits.
 * - Writing creates missing directories, as in just-bash's own filesystem: the shell treats a refused redirect as
 *   its own failure, and `exec()` rejects. The same happens on other refusals, such as ENOSPC.
 * - A name with a backslash cannot be created (EINVAL), because this filesystem treats a backslash as a separator.
 * - The shell finds its commands without files, but looks into an existing `/usr/bin` first: mount such a tree under
 *   another path.
 * - `getAllPaths()` is empty over an asynchronous storage, so `ls` with a quoted pattern finds nothing there.
 *
 * @throws TypeError if `fileSystem` is not a filesystem
 */
export function createBashFs(fileSystem: FileSystem = openFileSystem(new MemoryStorage())): IFileSystem {
  if (typeof (fileSystem as Partial<FileSystem> | null)?.readFile !== 'function') {
    throw new TypeError('createBashFs takes a filesystem, as createFileSystem makes it');
  }
  return new BashFs(fileSystem);
}
