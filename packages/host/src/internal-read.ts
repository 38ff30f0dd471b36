import type { Backend } from '@scratchfs/core';
import { hostError } from './host-error.js';
import { HostReadBackend } from './host-read-backend.js';

// For programs that only read a directory. Importing git, the OS sandbox and everything that writes takes long.

/**
 * Returns a backend that reads a directory of the host and writes nothing. Names that a disk reads as `.git` count as
 * missing, and so does a name that the disk has in another case. The version of a directory changes with its times of
 * change; that of a file or link also with its inode, size, mode and number of names.
 * @throws FsError such as ENOENT or ENOTDIR
 */
export function hostReadBackend(directory: string): Backend {
  try {
    return new HostReadBackend(directory, true, true);
  } catch (error) {
    throw hostError(error, 'open', '/');
  }
}
export { hasJournal } from './apply/journal.js';
export { isAlive, startOf } from './process-start.js';
