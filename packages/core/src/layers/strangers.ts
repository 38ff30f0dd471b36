import type { StrangerCode } from '../engine/internals.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { overlay } from './overlay.js';
import { sealed } from './read-only-error.js';

/** What a layer answers where a stranger's code asks for more than a look. */
export interface Refusals {
  /** Of an operation that has changed something. */
  readonly change: () => Error;
  /** Of `compare`. */
  readonly compare: () => Error;
}

/**
 * Runs the operations and cursors that a caller brings over an overlay of a filesystem: all they see has come through
 * the filesystem's own methods, and what they do to the tree they get ends with it.
 */
export function overOverlay(fileSystem: FileSystem, refusals: Refusals): StrangerCode {
  const look = (): FileSystem => overlay(fileSystem, { limits: {} });
  const lookSync = (): SyncFileSystem => overlay(fileSystem as SyncFileSystem, { limits: {} });
  return {
    run: async (operation, args, options) => look().run(sealed(operation, refusals.change), args, options),
    iterate: (start, options) => look().iterate(start, options),
    compare: async () => {
      throw refusals.compare();
    },
    runSync: (operation, args) => lookSync().runSync(sealed(operation, refusals.change), args),
    iterateSync: (start) => lookSync().iterateSync(start),
    compareSync: () => {
      throw refusals.compare();
    },
  };
}
