import type { NodeId, Version } from '@scratchfs/core';
import type { DeltaEntry, DeltaNode, Head } from './delta-node.js';

/**
 * A head under construction. Copies the directories above a change, so that the head that it began with stays as it is.
 */
export class Draft {
  #root: DeltaNode;
  #inodes: ReadonlyMap<NodeId, DeltaNode>;
  readonly #owned = new Set<ReadonlyMap<unknown, unknown>>();
  readonly #version: Version;

  /** @param version version of the directories whose names change */
  constructor(head: Head, version: Version) {
    this.#root = head.root;
    this.#inodes = head.inodes;
    this.#version = version;
  }

  /** The head so far. Later changes do not change it. */
  get head(): Head {
    this.#owned.clear();
    return this.current;
  }

  /** The head so far. Must be read before the next change, which may change its maps. */
  get current(): Head {
    return { root: this.#root, inodes: this.#inodes };
  }

  setInode(id: NodeId, node: DeltaNode | undefined): void {
    const inodes = this.#own(this.#inodes);
    if (node === undefined) inodes.delete(id);
    else inodes.set(id, node);
    this.#inodes = inodes;
  }

  /**
   * Sets the entry of a path, or removes it. Every directory above must be a node of the head.
   * @param isSame true if the name still leads to the same node, so that the version of the listing stays
   */
  setEntry(names: readonly string[], entry: DeltaEntry | undefined, isSame = false): void {
    this.#root = this.#with(this.#root, names, 0, () => entry, isSame);
  }

  /** Replaces the entry of a path, which must exist; for the root, its node. */
  update(names: readonly string[], change: (entry: DeltaEntry) => DeltaEntry): void {
    if (names.length === 0) this.#root = change({ node: this.#root }).node as DeltaNode;
    else this.#root = this.#with(this.#root, names, 0, (entry) => change(entry as DeltaEntry));
  }

  #with(
    directory: DeltaNode,
    path: readonly string[],
    depth: number,
    change: (entry: DeltaEntry | undefined) => DeltaEntry | undefined,
    isSame = false,
  ): DeltaNode {
    const name = path[depth] as string;
    const entry = directory.names?.get(name);
    if (depth < path.length - 1) {
      if (entry?.node?.kind !== 'directory') throw new Error('A directory above the change is missing');
      const names = this.#own(directory.names ?? new Map());
      names.set(name, { ...entry, node: this.#with(entry.node, path, depth + 1, change, isSame) });
      return { ...directory, names };
    }
    const names = this.#own(directory.names ?? new Map());
    const next = change(entry);
    if (next === undefined) names.delete(name);
    else names.set(name, next);
    return isSame || leadsToSame(entry, next)
      ? { ...directory, names }
      : { ...directory, names, listing: this.#version };
  }

  #own<K, V>(map: ReadonlyMap<K, V>): Map<K, V> {
    if (this.#owned.has(map)) return map as Map<K, V>;
    const copy = new Map(map);
    this.#owned.add(copy);
    return copy;
  }
}

/** Reports whether a changed name leads to the same node as before. */
function leadsToSame(a: DeltaEntry | undefined, b: DeltaEntry | undefined): boolean {
  if (a === undefined || b === undefined || a.link !== b.link) return false;
  return a.link !== undefined || (a.node !== null && a.node.id === b.node?.id);
}
