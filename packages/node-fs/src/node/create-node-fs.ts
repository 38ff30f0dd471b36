import { type FileSystem, openFileSystem, type SyncFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { constants } from '../constants.js';
import { Descriptors } from '../descriptors.js';
import { doorTo } from '../door.js';
import { callbackForm, promiseForm, syncForm } from '../forms.js';
import type { Facade } from '../operation.js';
import { OPERATIONS } from '../table.js';
import { nodePlatform } from './platform.js';

export type NodeFs = typeof import('node:fs');
/** What there is where the storage answers promises only. */
export type AsyncNodeFs = { [K in keyof NodeFs as K extends `${string}Sync` ? never : K]: NodeFs[K] };

export interface NodeFsOptions {
  /** Permission bits that new files and directories do not get. Default 0o022. */
  readonly umask?: number | undefined;
}

/** An object with the shape of `node:fs` over a filesystem; over a fresh one in memory by default. */
export function createNodeFs(fileSystem?: SyncFileSystem, options?: NodeFsOptions): NodeFs;
export function createNodeFs(fileSystem: FileSystem, options?: NodeFsOptions): AsyncNodeFs;
export function createNodeFs(
  fileSystem: FileSystem = openFileSystem(new MemoryStorage()),
  options: NodeFsOptions = {},
): NodeFs | AsyncNodeFs {
  const facade: Facade = {
    door: doorTo(fileSystem),
    platform: nodePlatform,
    descriptors: new Descriptors(),
    umask: options.umask ?? 0o022,
  };
  const fs: Record<string, unknown> = { constants };
  const promises: Record<string, unknown> = { constants };
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    fs[name] = callbackForm(facade, operation);
    if (fileSystem.kind === 'sync') fs[`${name}Sync`] = syncForm(facade, operation);
    promises[name] = promiseForm(facade, operation);
  }
  fs['promises'] = promises;
  return fs as unknown as NodeFs;
}
