import { compareNames, isWithin, normalizePath, pathSegments } from '../paths.js';

/** Which part of a filesystem a working copy has: some paths with all beneath them, and the directories on the way there. */
export class Scope {
  readonly #paths: readonly string[];

  /** @throws TypeError for anything but a list of paths; FsError EINVAL, ENAMETOOLONG for what is no path */
  constructor(paths: readonly string[] | undefined) {
    if (paths !== undefined && !Array.isArray(paths)) throw new TypeError('paths must be an array of paths');
    if (paths?.length === 0) throw new TypeError('paths must name at least one path');
    this.#paths = (paths ?? ['/']).map((path) => normalizePath(path, 'openWorkingCopy'));
  }

  /** Whether a path and everything beneath it belong to the part. */
  holds(path: string): boolean {
    return this.#paths.some((one) => isWithin(path, one));
  }

  /** Whether a path lies on the way to the part, so that only some of its names belong to it. */
  isWay(path: string): boolean {
    return !this.holds(path) && this.#paths.some((one) => isWithin(one, path));
  }

  /** The names of a directory on the way that belong to the part, in order. */
  namesIn(way: string): string[] {
    const depth = pathSegments(way).length;
    const beneath = this.#paths.filter((path) => path !== way && isWithin(path, way));
    return [...new Set(beneath.map((path) => pathSegments(path)[depth] as string))].sort(compareNames);
  }
}
