import { compareNames } from '../paths.js';
import type { Owner } from './owner.js';

/** Names in a leaf at most. */
export const LEAF_SIZE = 128;
/** Children of an inner node at most. */
export const FAN_OUT = 64;

/** Names in order and their values. */
export class Leaf<V> {
  constructor(
    readonly owner: Owner | null,
    readonly names: string[],
    readonly values: V[],
  ) {}
}

/** `keys[i]` is a lower bound of the names beneath `children[i]`, and above all names before; `keys[0]` means nothing. */
export class Inner<V> {
  constructor(
    readonly owner: Owner,
    readonly keys: string[],
    readonly children: EntriesNode<V>[],
  ) {}
}

/** What it is follows from the height at which it lies: leaves at 0. */
export type EntriesNode<V> = Leaf<V> | Inner<V>;

/** The position of the first name that is not before `name`. */
export function lowerBound(names: readonly string[], name: string, wide: boolean): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(names[middle]!, name, wide)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The position of the child beneath which `name` belongs. */
export function childIndex(keys: readonly string[], name: string, wide: boolean): number {
  let low = 1;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(name, keys[middle]!, wide)) high = middle;
    else low = middle + 1;
  }
  return low - 1;
}

/** Up to U+D7FF the order of UTF-16 units is that of UTF-8 bytes; `wide` says that a stored name goes beyond. */
function isBefore(a: string, b: string, wide: boolean): boolean {
  return wide ? compareNames(a, b) < 0 : a < b;
}

/** Whether a name has a unit at which the order of UTF-16 and that of UTF-8 part. */
export function isWide(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    if (name.charCodeAt(i) >= 0xd800) return true;
  }
  return false;
}

export function ownLeaf<V>(owner: Owner, leaf: Leaf<V>): Leaf<V> {
  return leaf.owner === owner ? leaf : new Leaf(owner, leaf.names.slice(), leaf.values.slice());
}

export function ownInner<V>(owner: Owner, inner: Inner<V>): Inner<V> {
  return inner.owner === owner ? inner : new Inner(owner, inner.keys.slice(), inner.children.slice());
}
