import { EntriesCursor } from './entries-cursor.js';
import { AIM, type EntriesNode, Inner, Leaf, MAX_CHILDREN, MAX_LEAF_NAMES, ownInner, ownLeaf } from './entries-node.js';
import { removeName } from './entries-remove.js';
import { aim, childIndex, find, guessChild } from './entries-search.js';
import type { Owner } from './owner.js';

/** The tree of a directory's names. */
export interface EntriesParts<V> {
  readonly root: EntriesNode<V>;
  /** Height of the root; leaves are at 0. */
  readonly height: number;
  /** Number of names. */
  readonly count: number;
}

/** Returns the replacement of a whole part, or undefined to map its entries one by one. */
export type MapWhole<V> = (part: EntriesNode<V>) => EntriesNode<V> | undefined;

/**
 * The names of a directory in the order of their UTF-8 bytes: a persistent B+tree. A part that carries the owner's mark
 * is changed in place, any other is copied on the way down, so a clone costs nothing until it is written.
 */
export class Entries<V> {
  private constructor(
    private root: EntriesNode<V>,
    private height: number,
    private count: number,
  ) {}

  static empty<V>(owner: Owner | null = null): Entries<V> {
    // A new leaf, not a shared constant, so that no code can change the leaf of every empty directory.
    return new Entries<V>(new Leaf<V>(owner, [], []), 0, 0);
  }

  /** Builds from given parts. A part that is neither a leaf nor an inner node may load itself when it is visited. */
  static fromParts<V>({ root, height, count }: EntriesParts<V>): Entries<V> {
    return new Entries(root, height, count);
  }

  /** The parts, read-only. */
  get parts(): EntriesParts<V> {
    return { root: this.root, height: this.height, count: this.count };
  }

  get size(): number {
    return this.count;
  }

  get(name: string): V | undefined {
    let leaf = this.guessLeaf(name);
    let at = find(leaf, name);
    if (at >= 0) return leaf.values[at];
    if (this.height === 0) return undefined;
    const guessed = leaf;
    leaf = this.leafOf(name);
    if (leaf === guessed) return undefined;
    at = find(leaf, name);
    return at >= 0 ? leaf.values[at] : undefined;
  }

  /** Like `get`, for a caller that is about to write the name: a write that follows need not search again. */
  getToSet(name: string): V | undefined {
    const leaf = this.leafOf(name);
    const at = aim(leaf, name);
    return at >= 0 ? leaf.values[at] : undefined;
  }

  has(name: string): boolean {
    return find(this.leafOf(name), name) >= 0;
  }

  /**
   * Inserts or replaces. A new name is stored detached from the path that it was cut from, so that it does not keep the
   * path in memory.
   */
  set(owner: Owner, name: string, value: V): void {
    if (this.height > 0) {
      const root = ownInner(owner, this.root as Inner<V>);
      this.root = root;
      if (root.children.length === MAX_CHILDREN) {
        const above = new Inner<V>(owner, [''], [root]);
        splitInner(owner, above, 0, true);
        this.root = above;
        this.height++;
      }
    }
    let parent: Inner<V> | undefined;
    let slot = 0;
    let edge = true;
    let node: EntriesNode<V> = this.root;
    for (let height = this.height; height > 0; height--) {
      parent = node as Inner<V>;
      slot = childIndex(parent, name);
      edge &&= slot === parent.children.length - 1;
      const child = parent.children[slot]!;
      if (height === 1) {
        node = child;
        continue;
      }
      const own = ownInner(owner, child as Inner<V>);
      parent.children[slot] = own;
      node = own;
      if (own.children.length === MAX_CHILDREN) {
        splitInner(owner, parent, slot, edge);
        const next = childIndex(parent, name);
        edge &&= next > slot;
        node = parent.children[next]!;
      }
    }
    const leaf = ownLeaf(owner, node as Leaf<V>);
    if (parent) parent.children[slot] = leaf;
    else this.root = leaf;
    this.setInLeaf(owner, parent, slot, edge, leaf, name, value);
  }

  delete(owner: Owner, name: string): boolean {
    if (!this.has(name)) return false;
    this.count--;
    this.root = removeName(owner, this.root, this.height, name);
    while (this.height > 0 && (this.root as Inner<V>).children.length === 1) {
      this.root = (this.root as Inner<V>).children[0]!;
      this.height--;
    }
    if (this.count === 0) {
      this.root = new Leaf<V>(null, [], []);
      this.height = 0;
    }
    return true;
  }

  /**
   * Returns the same names and values, sharing every part. From then on both trees must be changed under new owners.
   */
  clone(): Entries<V> {
    return new Entries(this.root, this.height, this.count);
  }

  /** Returns the same names with other values, made in order. No part is shared with this tree, except by `whole`. */
  map(owner: Owner, make: (value: V) => V, whole?: MapWhole<V>): Entries<V> {
    if (this.count === 0) return Entries.empty();
    return new Entries(mapNode(owner, this.root, this.height, make, whole), this.height, this.count);
  }

  /**
   * Visits the values in all parts that `seen` does not contain, and adds these parts to it. So parts that many trees
   * share are visited once.
   */
  forEachUnseen(seen: Set<object>, visit: (value: V) => void): void {
    visitUnseen(this.root, this.height, seen, visit);
  }

  /** Visits all entries in order. The directory must not change during the call. */
  forEach(visit: (value: V, name: string) => void): void {
    visitLeaves(this.root, this.height, (leaf) => {
      for (let i = 0; i < leaf.names.length; i++) visit(leaf.values[i]!, leaf.names[i]!);
    });
  }

  names(): string[] {
    if (this.height === 0) return (this.root as Leaf<V>).names.slice();
    const all: string[] = [];
    visitLeaves(this.root, this.height, (leaf) => {
      for (const name of leaf.names) all.push(name);
    });
    return all;
  }

  values(): V[] {
    if (this.height === 0) return (this.root as Leaf<V>).values.slice();
    const all: V[] = [];
    visitLeaves(this.root, this.height, (leaf) => {
      for (const value of leaf.values) all.push(value);
    });
    return all;
  }

  /** Walks the names after `after`. A change in place during the walk may or may not be seen. */
  cursor(after?: string): EntriesCursor<V> {
    return new EntriesCursor(this.root, this.height, after);
  }

  /** Returns the leaf in which `name` probably is, if it exists. If it is not there, the caller must try `leafOf`. */
  private guessLeaf(name: string): Leaf<V> {
    let node = this.root;
    for (let height = this.height; height > 0; height--) {
      const inner = node as Inner<V>;
      node = inner.children[guessChild(inner, name)]!;
    }
    return node as Leaf<V>;
  }

  private leafOf(name: string): Leaf<V> {
    let node = this.root;
    for (let height = this.height; height > 0; height--) {
      const inner = node as Inner<V>;
      node = inner.children[childIndex(inner, name)]!;
    }
    return node as Leaf<V>;
  }

  private setInLeaf(
    owner: Owner,
    parent: Inner<V> | undefined,
    slot: number,
    edge: boolean,
    leaf: Leaf<V>,
    name: string,
    value: V,
  ): void {
    const isAimed = AIM.names === leaf.names && AIM.name === name;
    const found = isAimed ? AIM.at : aim(leaf, name);
    if (found >= 0) {
      leaf.values[found] = value;
      return;
    }
    const kept = AIM.flat;
    const at = ~found;
    this.count++;
    if (leaf.names.length < MAX_LEAF_NAMES) {
      leaf.insert(at, kept, value);
      return;
    }
    let above = parent;
    if (!above) {
      above = new Inner<V>(owner, [''], [leaf]);
      this.root = above;
      this.height = 1;
    }
    // Names that arrive in order leave full leaves behind.
    const cut = edge && at === MAX_LEAF_NAMES ? MAX_LEAF_NAMES : MAX_LEAF_NAMES / 2;
    const right = leaf.split(owner, cut);
    if (at <= cut && cut < MAX_LEAF_NAMES) leaf.insert(at, kept, value);
    else right.insert(at - cut, kept, value);
    above.insert(slot + 1, right.names[0]!, right);
  }
}

/** Splits the full, owned child at `slot`; at the right edge the left part stays full except for one. */
function splitInner<V>(owner: Owner, parent: Inner<V>, slot: number, edge: boolean): void {
  const left = parent.children[slot] as Inner<V>;
  const right = left.split(owner, edge ? MAX_CHILDREN - 1 : MAX_CHILDREN / 2);
  parent.insert(slot + 1, right.keys[0]!, right);
}

function visitLeaves<V>(node: EntriesNode<V>, height: number, visit: (leaf: Leaf<V>) => void): void {
  if (height === 0) visit(node as Leaf<V>);
  else for (const child of (node as Inner<V>).children) visitLeaves(child, height - 1, visit);
}

function mapNode<V>(
  owner: Owner,
  node: EntriesNode<V>,
  height: number,
  make: (value: V) => V,
  whole: MapWhole<V> | undefined,
): EntriesNode<V> {
  const mapped = whole?.(node);
  if (mapped !== undefined) return mapped;
  if (height > 0) {
    const { keys, children } = node as Inner<V>;
    return new Inner(
      owner,
      keys.slice(),
      children.map((child) => mapNode(owner, child, height - 1, make, whole)),
    );
  }
  const { names, values, table, prefix } = node as Leaf<V>;
  const copy = new Leaf<V>(owner, names.slice(), values.map(make));
  copy.table = table;
  copy.prefix = prefix;
  return copy;
}

function visitUnseen<V>(node: EntriesNode<V>, height: number, seen: Set<object>, visit: (value: V) => void): void {
  if (seen.has(node)) return;
  seen.add(node);
  if (height === 0) for (const value of (node as Leaf<V>).values) visit(value);
  else for (const child of (node as Inner<V>).children) visitUnseen(child, height - 1, seen, visit);
}
