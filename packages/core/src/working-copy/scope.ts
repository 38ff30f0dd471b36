import { compareNames, isWithin, normalizePath, pathSegments } from '../paths.js';

/**
 * The part of a filesystem that a working copy contains: the given paths with everything under them, and their parent
 * directories.
 */
export class Scope {
  readonly #paths: readonly string[];

  /** @throws TypeError if `paths` is not a list of paths, or empty; FsError EINVAL, ENAMETOOLONG for an invalid path */
  constructor(paths: readonly string[] | undefined) {
    if (paths !== undefined && !Array.isArray(paths)) throw new TypeError('paths must be an array of paths');
    if (paths?.length === 0) throw new TypeError('paths must name at least one path');
    this.#paths = (paths ?? ['/']).map((path) => normalizePath(path, 'openWorkingCopy'));
  }

  /** Reports whether a path and everything under it belong to the part. */
  holds(path: string): boolean {
    return this.#paths.some((one) => isWithin(path, one));
  }

  /** Reports whether a path is a parent directory of the part, so that only some of its names belong to it. */
  isWay(path: string): boolean {
    return !this.holds(path) && this.#paths.some((one) => isWithin(one, path));
  }

  /** Returns the names in a parent directory that belong to the part, sorted. */
  namesIn(way: string): string[] {
    const depth = pathSegments(way).length;
    const beneath = this.#paths.filter((path) => path !== way && isWithin(path, way));
    return [...new Set(beneath.map((path) => pathSegments(path)[depth] as string))].sort(compareNames);
  }
}
