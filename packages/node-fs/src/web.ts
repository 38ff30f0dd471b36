import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { callbackFunctions, promiseFunctions } from './assemble.js';
import { constants } from './constants.js';
import { Dir } from './dir.js';
import { makeFacade, type NodeFsOptions } from './facade.js';
import { FileHandle } from './file-handle.js';
import { Dirent } from './results/dirent.js';
import { Stats } from './results/stats.js';
import { webPlatform } from './web/platform.js';
import type { WebFs } from './web/web-fs.js';

export type { NodeFsOptions } from './facade.js';
export type * from './web/web-fs.js';

/**
 * Creates the promise and callback functions of `node:fs` over a filesystem, for runtimes other than Node: contents are
 * Uint8Array. The default is a fresh filesystem in memory.
 * @throws TypeError if `fileSystem` is not a filesystem, for an unknown option, and for a umask that is not a number;
 *   RangeError unless the umask is an integer from 0 to 0o777
 */
export function createNodeFs(
  fileSystem: FileSystem = openFileSystem(new MemoryStorage()),
  options?: NodeFsOptions,
): WebFs {
  const facade = makeFacade(fileSystem, webPlatform, options);
  const promises = promiseFunctions(facade, FileHandle);
  return { ...callbackFunctions(facade), Dir, Dirent, Stats, constants, promises } as unknown as WebFs;
}
