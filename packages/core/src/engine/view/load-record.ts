import type { Check, NodeAddress, NodeId, NodeRecord, Version } from '../../backend.js';
import { joinPath } from '../../paths.js';
import { DIRECTORY, type Node, type TreeNode } from '../../tree/node.js';
import type { Tree } from '../../tree/tree.js';

/** A listing from which the names of a directory were taken. */
interface Taken {
  readonly address: NodeAddress;
  readonly names: readonly string[];
  readonly records: readonly NodeRecord[];
  /** The nodes of the records in the tree. */
  readonly nodes: readonly TreeNode[];
}

interface Listed {
  readonly taken: Taken;
  readonly at: number;
}

/** A record of the listings and versions with which files and links entered a tree, for the checks of a commit. */
export class LoadRecord {
  /** Listings whose names were taken and whose nodes are not in `#listed` yet. */
  readonly #taken: Taken[] = [];
  /**
   * Positions of nodes in the other listings, by node id. They are needed for checks of files and links, because the
   * version of a listing does not cover them.
   */
  #listed: Map<NodeId, Listed> | undefined;
  /** The probable position of the next node, because nodes are usually read in order. */
  #next: Listed | undefined;
  /**
   * For each file or link with several names: the version with which it entered the tree's inode table. Later loads do
   * not replace the node there.
   */
  #linked: Map<NodeId, Version> | undefined;
  readonly #tree: Tree;

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  /** Records that the names of a directory were taken from a listing. */
  take(taken: Taken): void {
    this.#next = { taken, at: 0 };
    this.#taken.push(taken);
  }

  /** Records that a file or link with several names was added to the tree's inode table. */
  admitLinked({ id, version }: NodeRecord): void {
    this.#linked ??= new Map();
    this.#linked.set(id, version);
  }

  /**
   * Returns the version of a file or link in the tree: with several names, the one with which it was first loaded.
   * Undefined for a directory.
   */
  versionOf({ kind, id, version }: NodeRecord): Version | undefined {
    if (kind === 'directory') return undefined;
    return this.#tree.inodes.has(id) ? (this.#linked?.get(id) ?? version) : version;
  }

  /** Returns the check of a file or link known only from a listing. Undefined for all other nodes. */
  checkOfListed(node: Node): Check | undefined {
    if (node.kind === DIRECTORY) return undefined;
    const found = this.#listedNext(node) ?? this.#listedAnywhere(node);
    // If the file has another node now, it was changed since.
    if (found?.taken.nodes[found.at] !== node) return undefined;
    this.#next = { taken: found.taken, at: found.at + 1 };
    const { address, names, records } = found.taken;
    const record = records[found.at] as NodeRecord;
    const path = joinPath(address.path, names[found.at] as string);
    return { kind: 'entry', path, id: record.id, version: this.versionOf(record) };
  }

  #listedNext(node: Node): Listed | undefined {
    if (this.#next === undefined) return undefined;
    const { taken } = this.#next;
    let { at } = this.#next;
    while (taken.nodes[at]?.kind === DIRECTORY) at += 1;
    return taken.nodes[at] === node ? { taken, at } : undefined;
  }

  #listedAnywhere(node: Node): Listed | undefined {
    for (const taken of this.#taken.splice(0)) {
      this.#listed ??= new Map();
      for (const [at, listed] of taken.nodes.entries()) this.#listed.set((listed as Node).id, { taken, at });
    }
    return this.#listed?.get(node.id);
  }
}
