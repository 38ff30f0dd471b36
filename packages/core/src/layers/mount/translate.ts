import { Stats } from '../../entry.js';
import { isFsError } from '../../errors.js';
import { withPaths } from '../with-paths.js';
import type { Mounted, Namespace } from './namespace.js';
import type { Place } from './resolve.js';

/** Translates an error for the caller: with the given paths, or the outer paths of what failed. */
export function translateError(error: unknown, space: Namespace, places: readonly Place[]): unknown {
  if (!isFsError(error)) return error;
  const outer = (path: string | undefined, candidates: readonly Place[]): string | undefined => {
    if (path === undefined || places.length === 0) return path;
    const known = candidates.find(({ inner }) => inner === path);
    if (known !== undefined) return known.given;
    return path[0] === '/' ? space.outside((places[0] as Place).mounted, path) : path;
  };
  // The path of a failed symlink is its target, which is not translated.
  const path = error.syscall === 'symlink' ? error.path : outer(error.path, places);
  // Both places are the same one inside if a link on their way leads nowhere.
  const dest = outer(error.dest, places.toReversed());
  return path === error.path && dest === error.dest ? error : withPaths(error, path, dest);
}

/**
 * Translates stats: `ino` is unique in each filesystem; `dev` tells up to 1,024 of them apart, also in nested mounts.
 */
export function translateStats(stats: Stats, mounted: Mounted): Stats {
  const dev = mounted.index + stats.dev * 1024;
  if (dev === stats.dev) return stats;
  return new MountedStats(stats, dev);
}

/** Stats with another `dev`. The version is whatever the mounted filesystem reports, for its `ifVersion`. */
class MountedStats extends Stats {
  readonly #stats: Stats;
  constructor(stats: Stats, dev: number) {
    const { kind, ino, mode, nlink, size, uid, gid, atimeMs, mtimeMs, ctimeMs, birthtimeMs } = stats;
    super(kind, ino, mode, nlink, size, uid, gid, atimeMs, mtimeMs, ctimeMs, birthtimeMs, dev);
    this.#stats = stats;
  }

  override get version(): string {
    return this.#stats.version;
  }
}
