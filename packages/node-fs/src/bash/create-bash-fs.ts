import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import type { IFileSystem } from 'just-bash';
import { BashFs } from './bash-fs.js';

/**
 * A filesystem as the shell of just-bash takes it: `new Bash({ fs: createBashFs(fileSystem), cwd: '/' })`.
 *
 * Any filesystem will do, layers and asynchronous storages included; without one it is a fresh one in memory. Its calls run
 * outside the context of the script, so that the shell's defences (`defenseInDepth`) do not meet them.
 *
 * - `/dev/null`, `/dev/zero`, `/dev/tty` and the standard streams are there for scripts, without being in the filesystem.
 *   What the shell keeps under `/dev/fd` for `<(list)`, or a script under another name of a device, lies in memory beside it,
 *   within the same limits.
 * - Writing makes missing directories, as every filesystem of just-bash does: the shell takes a refused redirect for its
 *   own failure, and `exec()` rejects. So it does where this filesystem refuses for another reason, as with ENOSPC.
 * - A name with a backslash cannot be made: EINVAL. To this filesystem it separates.
 * - The shell finds its commands without files, but where there is a `/usr/bin` it looks there first: mount such a tree
 *   beneath another path.
 * - `getAllPaths()` is empty over an asynchronous storage; only `ls` with a quoted pattern asks for it.
 *
 * @throws TypeError for what is no filesystem
 */
export function createBashFs(fileSystem: FileSystem = openFileSystem(new MemoryStorage())): IFileSystem {
  if (typeof (fileSystem as Partial<FileSystem> | null)?.readFile !== 'function') {
    throw new TypeError('createBashFs takes a filesystem, as createFileSystem makes it');
  }
  return new BashFs(fileSystem);
}
