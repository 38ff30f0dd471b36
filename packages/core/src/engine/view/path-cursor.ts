import { joinPath, MAX_DEPTH, MAX_NAME_BYTES, MAX_PATH_BYTES, pathSegments, utf8Length } from '../../paths.js';
import { type DirectoryNode, LINKED, type Node, SYMLINK } from '../../tree/node.js';
import type { Location, Tree } from '../../tree/tree.js';

/** Returned by {@link PathCursor.moveToKnown} for a path that needs a full lookup. */
export const NOT_KNOWN = Symbol('not known');

/**
 * The place where the last lookup of a view arrived: the entry it found, or the free name where one can be created. Its
 * path is normalized and leads through no links. Every lookup moves the one cursor of its view, so an operation takes
 * what it needs before it looks up another path. A result object for each lookup would have to be allocated in every
 * stat and create.
 */
export class PathCursor {
  /** The directory in which the name is or would be; for the root, the root itself. */
  parent: Location;
  /** The name in `parent`; empty for the root. */
  name = '';
  readonly #tree: Tree;

  constructor(tree: Tree) {
    this.#tree = tree;
    this.parent = tree.rootLocation;
  }

  path(): string {
    return this.name === '' ? '/' : joinPath(this.parent.path, this.name);
  }

  /** Returns the location of the directory that was found here. */
  location(directory: DirectoryNode): Location {
    return this.name === '' ? this.#tree.rootLocation : this.#tree.childLocation(this.parent, this.name, directory);
  }

  moveTo(parent: Location, name: string): void {
    this.parent = parent;
    this.name = name;
  }

  moveToDirectory(location: Location): void {
    this.parent = location.parent ?? location;
    this.name = location.name;
  }

  /**
   * Moves to a path that needs no check, and returns the node there, or undefined if the name is free. Such a path
   * leads into a directory that was visited before. Its last name exists there, or is plain and all names of the
   * directory are known. For any other path, a link to follow, or one of several names of a file, returns
   * {@link NOT_KNOWN} and does not move.
   */
  moveToKnown(path: string, follow: boolean, isWrite: boolean): Node | undefined | typeof NOT_KNOWN {
    if (typeof path !== 'string') return NOT_KNOWN;
    const slash = path.lastIndexOf('/');
    if (slash < 0) return NOT_KNOWN;
    const parent = slash === 0 ? this.#tree.rootLocation : this.#tree.cachedLocation(path.slice(0, slash));
    if (parent === undefined) return NOT_KNOWN;
    const name = path.slice(slash + 1);
    const { entries } = parent.directory;
    const entry = isWrite ? entries.getToSet(name) : entries.get(name);
    if (entry === undefined) {
      if (!parent.directory.complete || !isPlainName(path, slash + 1) || isTooLong(path)) return NOT_KNOWN;
    } else if (entry.kind >= LINKED || (follow && entry.kind === SYMLINK)) return NOT_KNOWN;
    this.parent = parent;
    this.name = name;
    return entry as Node | undefined;
  }
}

/**
 * Returns true if the name at the end of a path is certainly valid: short, without separators, NUL and surrogates, and
 * neither `.` nor `..`.
 */
function isPlainName(path: string, start: number): boolean {
  const length = path.length - start;
  if (length === 0 || length * 3 > MAX_NAME_BYTES) return false;
  // The path is a flat string; a name cut from it is not, and reading its code units is slow.
  for (let i = start; i < path.length; i++) {
    const unit = path.charCodeAt(i);
    if (unit === 0 || unit === 0x5c || (unit >= 0xd800 && unit < 0xe000)) return false;
  }
  return length > 2 || path.charCodeAt(path.length - 1) !== 0x2e || path.charCodeAt(start) !== 0x2e;
}

/** Returns true if a normalized path exceeds the maximum length or depth. */
export function isTooLong(path: string): boolean {
  if (path.length * 3 <= MAX_PATH_BYTES && path.length <= MAX_DEPTH * 2) return false;
  return utf8Length(path) > MAX_PATH_BYTES || pathSegments(path).length > MAX_DEPTH;
}
