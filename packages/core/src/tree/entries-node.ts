import type { Owner } from './owner.js';

export const MAX_LEAF_NAMES = 128;
/** Maximum number of children of an inner node. */
export const MAX_CHILDREN = 64;

/** Sorted names and their values. */
export class Leaf<V> {
  /** Hash table of the names; empty until the leaf is read often, and again when its names change. */
  table = '';
  /** Number of leading UTF-16 units that all names share; valid while there is a table. */
  prefix = 0;
  /** Number of searches of the leaf while it has no table. */
  reads = 0;
  constructor(
    readonly owner: Owner | null,
    readonly names: string[],
    readonly values: V[],
  ) {}

  insert(at: number, name: string, value: V): void {
    this.namesChange();
    if (at === this.names.length) {
      this.names.push(name);
      this.values.push(value);
    } else {
      this.names.splice(at, 0, name);
      this.values.splice(at, 0, value);
    }
  }

  remove(at: number): void {
    this.namesChange();
    this.names.splice(at, 1);
    this.values.splice(at, 1);
  }

  /** Keeps the entries before `at` and returns the rest. */
  split(owner: Owner, at: number): Leaf<V> {
    this.namesChange();
    return new Leaf(owner, this.names.splice(at), this.values.splice(at));
  }

  private namesChange(): void {
    this.table = '';
    this.reads = 0;
    if (AIM.names === this.names) AIM.names = undefined;
  }
}

/**
 * Result of the last search for a name that may be written next. `at`: its position in `names`, or `~` of its insertion
 * position if it is missing; `flat`: the text to store for a new name. It keeps some names in memory, but no value.
 */
export const AIM: { names: readonly string[] | undefined; name: string; flat: string; at: number } = {
  names: undefined,
  name: '',
  flat: '',
  at: 0,
};

/** `keys[i]` is not above any name under `children[i]`, but above all names before these. `keys[0]` is unused. */
export class Inner<V> {
  /** Number of leading UTF-16 units that all names under this node shared when it was computed; negative before. */
  prefix = -1;
  constructor(
    readonly owner: Owner,
    readonly keys: string[],
    readonly children: EntriesNode<V>[],
  ) {}

  insert(at: number, key: string, child: EntriesNode<V>): void {
    this.prefix = -1;
    this.keys.splice(at, 0, key);
    this.children.splice(at, 0, child);
  }

  remove(at: number): void {
    this.prefix = -1;
    this.keys.splice(at, 1);
    this.children.splice(at, 1);
  }

  /** Keeps the children before `at` and returns the rest. */
  split(owner: Owner, at: number): Inner<V> {
    this.prefix = -1;
    return new Inner(owner, this.keys.splice(at), this.children.splice(at));
  }
}

/** A node of the tree. Its height tells its type: leaves are at 0. */
export type EntriesNode<V> = Leaf<V> | Inner<V>;

export function ownLeaf<V>(owner: Owner, leaf: Leaf<V>): Leaf<V> {
  if (leaf.owner === owner) return leaf;
  const own = new Leaf(owner, leaf.names.slice(), leaf.values.slice());
  own.table = leaf.table;
  own.prefix = leaf.prefix;
  return own;
}

export function ownInner<V>(owner: Owner, inner: Inner<V>): Inner<V> {
  return inner.owner === owner ? inner : new Inner(owner, inner.keys.slice(), inner.children.slice());
}
