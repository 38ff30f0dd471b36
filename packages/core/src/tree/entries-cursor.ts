import type { EntriesNode, Inner, Leaf } from './entries-node.js';
import { childIndex, search } from './entries-search.js';

/** A position between the names of a directory; `name` and `value` are those that the last `next` passed. */
export class EntriesCursor<V> {
  name = '';
  value!: V;
  private readonly path: Inner<V>[] = [];
  private readonly slots: number[] = [];
  private leaf: Leaf<V>;
  private at: number;

  constructor(root: EntriesNode<V>, height: number, after: string | undefined) {
    let node = root;
    for (let level = height; level > 0; level--) {
      const inner = node as Inner<V>;
      const slot = after === undefined ? 0 : childIndex(inner, after);
      this.path.push(inner);
      this.slots.push(slot);
      node = inner.children[slot]!;
    }
    this.leaf = node as Leaf<V>;
    if (after === undefined) this.at = 0;
    else {
      const found = search(this.leaf.names, after);
      this.at = found >= 0 ? found + 1 : ~found;
    }
  }

  /** Advances. Returns false at the end. */
  next(): boolean {
    while (this.at >= this.leaf.names.length) {
      if (!this.nextLeaf()) return false;
    }
    this.name = this.leaf.names[this.at]!;
    this.value = this.leaf.values[this.at]!;
    this.at++;
    return true;
  }

  private nextLeaf(): boolean {
    let level = this.path.length - 1;
    while (level >= 0 && this.slots[level]! + 1 >= this.path[level]!.children.length) level--;
    if (level < 0) return false;
    this.slots[level]!++;
    for (; level < this.path.length - 1; level++) {
      this.path[level + 1] = this.path[level]!.children[this.slots[level]!] as Inner<V>;
      this.slots[level + 1] = 0;
    }
    this.leaf = this.path[level]!.children[this.slots[level]!] as Leaf<V>;
    this.at = 0;
    return true;
  }
}

/** Reads at most `limit` names from a cursor; `complete` is true if none follow. */
export function readPage<V>(
  cursor: EntriesCursor<V>,
  limit: number,
): { names: string[]; values: V[]; complete: boolean } {
  const names: string[] = [];
  const values: V[] = [];
  while (cursor.next()) {
    if (names.length >= limit) return { names, values, complete: false };
    names.push(cursor.name);
    values.push(cursor.value);
  }
  return { names, values, complete: true };
}
