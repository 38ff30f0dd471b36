import { type EntriesNode, Inner, Leaf, MAX_CHILDREN, MAX_LEAF_NAMES, ownInner, ownLeaf } from './entries-node.js';
import { childIndex, search } from './entries-search.js';
import type { Owner } from './owner.js';

/** Removes an existing name. Returns the node in its place, possibly empty. */
export function removeName<V>(owner: Owner, node: EntriesNode<V>, height: number, name: string): EntriesNode<V> {
  if (height === 0) return removeFromLeaf(owner, node as Leaf<V>, name);
  const inner = ownInner(owner, node as Inner<V>);
  const slot = childIndex(inner, name);
  inner.children[slot] = removeName(owner, inner.children[slot]!, height - 1, name);
  if (height === 1) settleLeaf(owner, inner, slot);
  else settleInner(owner, inner, slot);
  return inner;
}

function removeFromLeaf<V>(owner: Owner, leaf: Leaf<V>, name: string): Leaf<V> {
  const own = ownLeaf(owner, leaf);
  own.remove(search(own.names, name));
  return own;
}

/** Removes an empty leaf, or joins a sparsely filled one with a neighbour if both fit into three quarters of a leaf. */
function settleLeaf<V>(owner: Owner, parent: Inner<V>, slot: number): void {
  const length = (parent.children[slot] as Leaf<V>).names.length;
  if (length === 0) parent.remove(slot);
  else if (length < MAX_LEAF_NAMES / 4) {
    const lengthAt = (i: number) => (parent.children[i] as Leaf<V> | undefined)?.names.length ?? MAX_LEAF_NAMES;
    const left = lengthAt(slot - 1) <= lengthAt(slot + 1) ? slot - 1 : slot;
    if (lengthAt(left) + lengthAt(left + 1) > (MAX_LEAF_NAMES * 3) / 4) return;
    const into = parent.children[left] as Leaf<V>;
    const from = parent.children[left + 1] as Leaf<V>;
    parent.children[left] = new Leaf(owner, into.names.concat(from.names), into.values.concat(from.values));
    parent.remove(left + 1);
  }
}

function settleInner<V>(owner: Owner, parent: Inner<V>, slot: number): void {
  const length = (parent.children[slot] as Inner<V>).children.length;
  if (length === 0) parent.remove(slot);
  else if (length < MAX_CHILDREN / 4) {
    const lengthAt = (i: number) => (parent.children[i] as Inner<V> | undefined)?.children.length ?? MAX_CHILDREN;
    const left = lengthAt(slot - 1) <= lengthAt(slot + 1) ? slot - 1 : slot;
    if (lengthAt(left) + lengthAt(left + 1) > (MAX_CHILDREN * 3) / 4) return;
    const into = parent.children[left] as Inner<V>;
    const from = parent.children[left + 1] as Inner<V>;
    const keys = into.keys.concat(from.keys);
    keys[into.keys.length] = parent.keys[left + 1]!;
    parent.children[left] = new Inner(owner, keys, into.children.concat(from.children));
    parent.remove(left + 1);
  }
}
