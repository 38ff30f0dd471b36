import { type FileSystem, openFileSystem, type SyncFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { toUnixTimestamp } from '../arguments/times.js';
import { callbackFunctions, type Functions, promiseFunctions, syncFunctions } from '../assemble.js';
import { constants } from '../constants.js';
import { Dir } from '../dir.js';
import { makeFacade, type NodeFsOptions } from '../facade.js';
import type { Facade } from '../node-function.js';
import { Dirent } from '../results/dirent.js';
import { StatFs } from '../results/stat-fs.js';
import { CallableStats } from '../results/stats.js';
import { fileHandleClass } from './file-handle.js';
import { watchFunction } from './fs-watcher.js';
import type { LaterFunctions } from './later-functions.js';
import { nodePlatform } from './platform.js';
import { statWatchFunctions } from './stat-watcher.js';
import { streamFunctions } from './streams.js';

/**
 * The shape of `node:fs` by Node's types, and the functions of later versions. It lacks a stream class that no function
 * here needs.
 */
export type NodeFs = Omit<typeof import('node:fs'), 'Utf8Stream'> & LaterFunctions;
/** The functions that exist if the storage is asynchronous. */
export type AsyncNodeFs = { [K in keyof NodeFs as K extends `${string}Sync` ? never : K]: NodeFs[K] };

/**
 * Creates an object with the shape of `node:fs` over a filesystem; over a fresh one in memory by default.
 * @throws TypeError if `fileSystem` is not a filesystem, for an unknown option, and for a umask that is not a number;
 *   RangeError unless the umask is an integer from 0 to 0o777
 */
export function createNodeFs(fileSystem?: SyncFileSystem, options?: NodeFsOptions): NodeFs;
export function createNodeFs(fileSystem: FileSystem, options?: NodeFsOptions): AsyncNodeFs;
export function createNodeFs(
  fileSystem: FileSystem = openFileSystem(new MemoryStorage()),
  options?: NodeFsOptions,
): NodeFs | AsyncNodeFs {
  const facade = makeFacade(fileSystem, nodePlatform, options);
  return assemble(facade, fileSystem.kind === 'sync') as unknown as NodeFs;
}

function assemble(facade: Facade, isSync: boolean): Functions {
  const { F_OK, R_OK, W_OK, X_OK } = constants;
  const fs: Functions = {
    ...callbackFunctions(facade),
    ...(isSync ? syncFunctions(facade) : {}),
    watch: watchFunction(facade),
    ...statWatchFunctions(facade),
    Dir,
    Dirent,
    Stats: CallableStats,
    // Node's types contain it, although Node does not export it.
    StatsFs: StatFs,
    F_OK,
    R_OK,
    W_OK,
    X_OK,
    constants,
    // Node has these on macOS only.
    lchmod: undefined,
    ...(isSync ? { lchmodSync: undefined } : {}),
    _toUnixTimestamp: toUnixTimestamp,
  };
  // Streams use the object's functions at the time of use, as Node's do.
  const streams = streamFunctions(fs);
  Object.defineProperties(fs, Object.getOwnPropertyDescriptors(streams));
  fs['promises'] = promiseFunctions(facade, fileHandleClass(streams));
  return fs;
}
