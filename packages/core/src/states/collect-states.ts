import { checkOptions } from '../engine/arguments.js';
import type { Cursor } from '../engine/cursor.js';
import { ownCode } from '../engine/internals.js';
import type { CallOptions, FileSystem } from '../file-system.js';
import { StateWalk } from './state-walk.js';

/**
 * All that a cursor makes of a {@link StateWalk}, of one point in time on every storage. Over a far storage `start` may be
 * called again, where somebody wrote meanwhile: only the last cursor counts.
 */
export function collectStates<T>(
  fileSystem: FileSystem,
  start: (walk: StateWalk) => Cursor<T>,
  options?: CallOptions & {
    /** Whether most contents will be read: over a far storage they come along then. Default false. */
    readonly contents?: boolean | undefined;
  },
): Promise<T[]> {
  const { signal, contents } = checkOptions(options, ['contents'], 'collectStates');
  return ownCode(fileSystem).collect((view) => start(new StateWalk(view, { contents })), { signal });
}
