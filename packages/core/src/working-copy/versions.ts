import { UNKNOWN_VERSION, type Version } from '../backend.js';
import type { Node } from '../tree/node.js';

/** What a storage said of a node that a working copy holds as it is there. */
interface Known {
  readonly version: Version;
  /** Of a directory without files of several names: the version of all beneath it. */
  readonly tree: Version | undefined;
}

/**
 * Which nodes in memory are, in which version, what the storage holds. A node that is changed becomes another object and
 * is unknown then, so that nothing has to be forgotten.
 */
export class Versions {
  readonly #known = new WeakMap<Node, Known>();

  note(node: Node, version: Version, tree?: Version): void {
    if (version !== UNKNOWN_VERSION)
      this.#known.set(node, { version, tree: tree === UNKNOWN_VERSION ? undefined : tree });
  }

  /** Whether a node is what the storage has in a version. */
  isVersion(node: Node, version: Version): boolean {
    return version !== UNKNOWN_VERSION && this.#known.get(node)?.version === version;
  }

  /** Whether the storage can be asked about all beneath a directory at once. */
  hasTree(node: Node): boolean {
    return this.#known.get(node)?.tree !== undefined;
  }

  /** Whether all at and beneath a directory is what the storage has in a version of that. */
  isTree(node: Node, tree: Version | undefined): boolean {
    return tree !== undefined && tree !== UNKNOWN_VERSION && this.#known.get(node)?.tree === tree;
  }
}
