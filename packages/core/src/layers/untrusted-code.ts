import type { UntrustedApi } from '../engine/internals.js';
import { sealed } from '../engine/read-only-error.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { overlay } from './overlay.js';

/** Errors for what a layer does not let untrusted code do. */
export interface Refusals {
  /** Returns the error for an operation that has changed something. */
  readonly change: () => Error;
  /** Returns the error for a call of `compare`. */
  readonly compare: () => Error;
}

/**
 * Runs a caller's operations and cursors over an overlay of a filesystem: everything they see comes through the
 * filesystem's own methods, and changes to their tree are discarded.
 */
export function overOverlay(fileSystem: FileSystem, refusals: Refusals): UntrustedApi {
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
