import { isWithin, normalizePath, pathSegments } from '@scratchfs/core';
import { beneath, climbs, isAbsolute, isHostPath, namesIn, type SandboxRoot } from './sandbox-root.js';

/**
 * Spelling of paths. With one root: `/src/a.ts` or `src/a.ts`. With names: `notes/a.md`, `/notes/a.md`, `notes:a.md`,
 * `notes` for the directory itself, and `.` or `/` for the top, which contains the names.
 */
export class Namespace {
  readonly #byName = new Map<string, SandboxRoot>();
  readonly #root: SandboxRoot | undefined;

  constructor(readonly roots: readonly SandboxRoot[]) {
    for (const root of roots) if (root.name !== undefined) this.#byName.set(root.name, root);
    this.#root = roots.find(({ name }) => name === undefined);
  }

  /**
   * Returns the path in the filesystem lexically, without following links; {@link TOP} for the place above all names.
   * Undefined for a path that is empty, contains NUL or leads outside, such as by `..` above a root, `~`, a drive, a
   * share or an unknown name.
   * @throws TypeError if it is not text; FsError EINVAL, ENAMETOOLONG
   */
  locate(given: string): string | typeof TOP | undefined {
    if (given === '' || (typeof given === 'string' && given.includes('\0'))) return undefined;
    const path = normalizePath(given);
    if (this.#root !== undefined) {
      if (isHostPath(given) || climbs(given, 0)) return undefined;
      return beneath(this.#root, pathSegments(path));
    }
    const spelled = this.#slashAfterName(given);
    if (spelled === undefined || climbs(spelled, 1)) return undefined;
    const [name, ...names] = pathSegments(normalizePath(spelled));
    if (name === undefined) return TOP;
    const root = this.#byName.get(name);
    return root === undefined ? undefined : beneath(root, names);
  }

  /** Returns the caller's spelling of a path of the filesystem; undefined if it is in no root. */
  show(path: string): string | undefined {
    const root = rootOf(this.roots, path);
    if (root === undefined) return undefined;
    const names = namesIn(root, path).join('/');
    if (root.name === undefined) return `/${names}`;
    return names === '' ? root.name : `${root.name}/${names}`;
  }

  /** Reports whether the sandbox has one root without a name, which is `/`. */
  get isRootForm(): boolean {
    return this.#root !== undefined;
  }

  /** Reports whether an entry of an allow list has a valid start: with one root it must be absolute. */
  isEntry(given: string): boolean {
    return this.#root === undefined || isAbsolute(given);
  }

  /** Returns `name:rest` as `name/rest`, undefined for a host path, and any other path unchanged. */
  #slashAfterName(given: string): string | undefined {
    const colon = given.indexOf(':');
    const name = given.slice(isAbsolute(given) ? 1 : 0, Math.max(colon, 0));
    if (this.#byName.has(name)) return `${name}/${given.slice(colon + 1)}`;
    return isHostPath(given) ? undefined : given;
  }
}

/** Stands for the place above all names, which is not a directory of the filesystem. */
export const TOP = Symbol('the top of the sandbox');

/** Returns the root of a path of the filesystem: of several nested ones the innermost. */
export function rootOf(roots: readonly SandboxRoot[], path: string): SandboxRoot | undefined {
  let found: SandboxRoot | undefined;
  for (const root of roots) {
    if (isWithin(path, root.path) && (found === undefined || root.path.length > found.path.length)) found = root;
  }
  return found;
}
