import { UNKNOWN_VERSION, type Version } from '../backend.js';
import type { Node } from '../tree/node.js';

/** Version of a node that the working copy holds exactly as the storage does. */
interface Known {
  readonly version: Version;
  /** Version of everything under a directory; only for directories without files of several names. */
  readonly tree: Version | undefined;
}

/**
 * Records which nodes in memory equal the storage's, and their versions. A changed node is a new object without a
 * record, so records are never removed.
 */
export class Versions {
  readonly #known = new WeakMap<Node, Known>();

  note(node: Node, version: Version, tree?: Version): void {
    if (version !== UNKNOWN_VERSION)
      this.#known.set(node, { version, tree: tree === UNKNOWN_VERSION ? undefined : tree });
  }

  /** Reports whether a node is known to equal the storage's node in this version. */
  isVersion(node: Node, version: Version): boolean {
    return version !== UNKNOWN_VERSION && this.#known.get(node)?.version === version;
  }

  /** Reports whether the version of everything under a directory is known. */
  hasTree(node: Node): boolean {
    return this.#known.get(node)?.tree !== undefined;
  }

  /** Reports whether everything at and under a directory equals the storage's in a tree version. */
  isTree(node: Node, tree: Version | undefined): boolean {
    return tree !== undefined && tree !== UNKNOWN_VERSION && this.#known.get(node)?.tree === tree;
  }
}
