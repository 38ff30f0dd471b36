import { isWithin, normalizePath, pathSegments } from '@scratchfs/core';
import { type Area, beneath, climbs, isAbsolute, isHostPath, namesIn } from './area.js';

/**
 * Spelling of paths. With one root: `/src/a.ts` or `src/a.ts`. With names: `notes/a.md`, `/notes/a.md`, `notes:a.md`,
 * or `notes` for the directory itself. `.` and `/` are the top, which contains the names.
 */
export class Namespace {
  readonly #byName = new Map<string, Area>();
  readonly #root: Area | undefined;

  constructor(readonly areas: readonly Area[]) {
    for (const area of areas) if (area.name !== undefined) this.#byName.set(area.name, area);
    this.#root = areas.find(({ name }) => name === undefined);
  }

  /**
   * Returns the path in the filesystem lexically, without following links; `top` for the place above all names.
   * Undefined if the path leads outside: `..` above an area's root, `~`, a drive, a share, an unknown name.
   * @throws TypeError if it is not text or contains NUL; FsError ENOENT for the empty path, EINVAL, ENAMETOOLONG
   */
  locate(given: string): string | typeof TOP | undefined {
    const path = normalizePath(given);
    if (this.#root !== undefined) {
      if (isHostPath(given) || climbs(given, 0)) return undefined;
      return beneath(this.#root, pathSegments(path));
    }
    const spelled = this.#slashAfterName(given);
    if (spelled === undefined || climbs(spelled, 1)) return undefined;
    const [name, ...names] = pathSegments(normalizePath(spelled));
    if (name === undefined) return TOP;
    const area = this.#byName.get(name);
    return area === undefined ? undefined : beneath(area, names);
  }

  /** Returns the caller's spelling of a path of the filesystem; undefined if it is in no area. */
  show(path: string): string | undefined {
    const area = areaOf(this.areas, path);
    if (area === undefined) return undefined;
    const names = namesIn(area, path).join('/');
    if (area.name === undefined) return `/${names}`;
    return names === '' ? area.name : `${area.name}/${names}`;
  }

  /** Reports whether an entry of an allow list has a valid start: with one root it must be absolute. */
  isEntry(given: string): boolean {
    return this.#root === undefined || isAbsolute(given);
  }

  /** Returns `name:rest` as `name/rest`; undefined for a host path. */
  #slashAfterName(given: string): string | undefined {
    const colon = given.indexOf(':');
    const name = given.slice(isAbsolute(given) ? 1 : 0, Math.max(colon, 0));
    if (this.#byName.has(name)) return `${name}/${given.slice(colon + 1)}`;
    return isHostPath(given) ? undefined : given;
  }
}

/** Stands for the place above all names, which is not a directory of the filesystem. */
export const TOP = Symbol('the top of the sandbox');

/** Returns the area of a path of the filesystem: of several nested ones the innermost. */
export function areaOf(areas: readonly Area[], path: string): Area | undefined {
  let found: Area | undefined;
  for (const area of areas) {
    if (isWithin(path, area.root) && (found === undefined || area.root.length > found.root.length)) found = area;
  }
  return found;
}
