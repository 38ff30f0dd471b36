import { joinPath } from '../../paths.js';
import type { DirectoryNode } from '../../tree/node.js';
import type { Location, Tree } from '../../tree/tree.js';

/**
 * The place where the last lookup of a view arrived: the entry it found, or the free name where one can be created. It is
 * normalized and free of links. Every lookup moves the one cursor of its view, so an operation takes what it needs before
 * it looks up another path. A result object for each lookup would have to be allocated in every stat and create.
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
}
