import { checkOptions } from '../engine/arguments.js';
import type { Cursor } from '../engine/cursor.js';
import { trustedApi } from '../engine/internals.js';
import type { CallOptions, FileSystem } from '../file-system.js';
import { StateWalk } from './state-walk.js';

/**
 * Collects everything that a cursor makes of a {@link StateWalk}, at one point in time on every storage. On a remote
 * storage `start` is called again if another client wrote during the walk: only the last cursor counts.
 */
export function collectStates<T>(
  fileSystem: FileSystem,
  start: (walk: StateWalk) => Cursor<T>,
  options?: CallOptions & {
    /** Set it if most contents will be read: remote storages then load them with the listings. Default false. */
    readonly contents?: boolean | undefined;
  },
): Promise<T[]> {
  const { signal, contents } = checkOptions(options, ['contents'], 'collectStates');
  return trustedApi(fileSystem).collect((view) => start(new StateWalk(view, { contents })), { signal });
}
