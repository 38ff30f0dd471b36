import { utf8Rank } from '../paths.js';
import { detach } from './detach.js';
import { AIM, type EntriesNode, Inner, Leaf } from './entries-node.js';

/**
 * Returns the position of `name` among sorted names, or the complement (`~`) of its insertion position if it is
 * missing. Units shared with both bounds are not compared again.
 */
export function search(names: readonly string[], name: string): number {
  const last = names.length - 1;
  if (last < 0) return ~0;
  let shared = sharedLength(names[last]!, name, 0);
  let order = orderAt(names[last]!, name, shared);
  if (order <= 0) return order < 0 ? ~(last + 1) : last;
  let high = last;
  let highShared = shared;
  shared = sharedLength(names[0]!, name, 0);
  order = orderAt(names[0]!, name, shared);
  if (order >= 0) return order > 0 ? ~0 : 0;
  let low = 1;
  let lowShared = shared;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = names[middle]!;
    shared = sharedLength(other, name, Math.min(lowShared, highShared));
    order = orderAt(other, name, shared);
    if (order < 0) {
      low = middle + 1;
      lowShared = shared;
    } else if (order > 0) {
      high = middle;
      highShared = shared;
    } else return middle;
  }
  return ~low;
}

/** Returns the position of the child that covers `name`. */
export function childIndex<V>(inner: Inner<V>, name: string): number {
  const { keys } = inner;
  if (keys.length === 1) return 0;
  const prefix = prefixOf(inner);
  const shared = sharedLength(keys[1]!, name, 0);
  if (shared >= prefix) return childFrom(keys, name, prefix);
  return orderAt(keys[1]!, name, shared) > 0 ? 0 : keys.length - 1;
}

/**
 * Like `childIndex`, but only correct if `name` begins with the common prefix of all names under the node; otherwise
 * the result is arbitrary.
 */
export function guessChild<V>(inner: Inner<V>, name: string): number {
  return childFrom(inner.keys, name, prefixOf(inner));
}

/** Returns the position of the child for a name that shares `prefix` units with all keys. */
function childFrom(keys: readonly string[], name: string, prefix: number): number {
  let low = 1;
  let high = keys.length;
  let lowShared = prefix;
  let highShared = prefix;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const key = keys[middle]!;
    const shared = sharedLength(key, name, Math.min(lowShared, highShared));
    if (orderAt(key, name, shared) > 0) {
      high = middle;
      highShared = shared;
    } else {
      low = middle + 1;
      lowShared = shared;
    }
  }
  return low - 1;
}

/** Returns {@link Inner.prefix}, and computes it first if needed. The keys share at least as many units. */
function prefixOf<V>(inner: Inner<V>): number {
  if (inner.prefix < 0) {
    const first = outermost(inner, 0);
    const last = outermost(inner, -1);
    inner.prefix = first === undefined || last === undefined ? 0 : sharedLength(first, last, 0);
  }
  return inner.prefix;
}

/** Returns the first or last name under a node. Undefined if it is in a part that may have to be loaded. */
function outermost<V>(node: EntriesNode<V>, at: 0 | -1): string | undefined {
  let down = node;
  while (down instanceof Inner) down = down.children.at(at)!;
  return down instanceof Leaf ? down.names.at(at) : undefined;
}

/** Returns the position of `name` in a leaf, negative if it is missing. A leaf that is read often gets a table. */
export function find(leaf: Leaf<unknown>, name: string): number {
  const { names } = leaf;
  if (!hasTable(leaf)) return search(names, name);
  const { table } = leaf;
  const mask = table.length - 1;
  for (let slot = hash(name, leaf.prefix) & mask; ; slot = (slot + 1) & mask) {
    const at = table.charCodeAt(slot) - 1;
    if (at < 0 || names[at] === name) return at;
  }
}

/** Counts a search and reports whether the leaf has a table, building it if it is searched often enough. */
function hasTable(leaf: Leaf<unknown>): boolean {
  if (leaf.table !== '') return true;
  if (++leaf.reads < 8 + (leaf.names.length >> 2)) return false;
  buildTable(leaf);
  return true;
}

/**
 * Returns the position of a name, or the complement of its insertion position, and keeps it in {@link AIM} for a
 * following write.
 */
export function aim(leaf: Leaf<unknown>, name: string): number {
  const known = hasTable(leaf) ? find(leaf, name) : -1;
  // A flat string compares faster, and a new name is stored flat.
  const flat = known >= 0 ? name : detach(name);
  const at = known >= 0 ? known : search(leaf.names, flat);
  AIM.names = leaf.names;
  AIM.name = name;
  AIM.flat = flat;
  AIM.at = at;
  return at;
}

/**
 * Builds the table, with open addressing: position + 1 of each name by its hash, 0 for a free slot, at most half full.
 * One byte per slot.
 */
function buildTable(leaf: Leaf<unknown>): void {
  const { names } = leaf;
  let size = 2;
  while (size < names.length * 2) size *= 2;
  const slots = new Array<number>(size).fill(0);
  leaf.prefix = names.length > 1 ? sharedLength(names[0]!, names[names.length - 1]!, 0) : 0;
  for (let i = 0; i < names.length; i++) {
    let slot = hash(names[i]!, leaf.prefix) & (size - 1);
    while (slots[slot] !== 0) slot = (slot + 1) & (size - 1);
    slots[slot] = i + 1;
  }
  leaf.table = String.fromCharCode.apply(null, slots);
}

const HASHED_UNITS = 12;

/** Hashes the units after the common prefix of the leaf's names: sorted names differ there. */
function hash(name: string, prefix: number): number {
  let value = name.length;
  const end = Math.min(value, prefix + HASHED_UNITS);
  for (let i = prefix; i < end; i++) value = (Math.imul(value, 31) + name.charCodeAt(i)) | 0;
  return value ^ (value >>> 7) ^ (value >>> 15);
}

function sharedLength(a: string, b: string, from: number): number {
  const end = Math.min(a.length, b.length);
  let i = from;
  while (i < end && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  return i;
}

/** Compares two names that are equal up to `at`, by their UTF-8 bytes. */
function orderAt(a: string, b: string, at: number): number {
  if (at >= a.length || at >= b.length) return a.length - b.length;
  const x = a.charCodeAt(at);
  const y = b.charCodeAt(at);
  // Surrogates sort after all other units in UTF-8, but below U+E000 in UTF-16.
  return x >= 0xd800 && y >= 0xd800 ? utf8Rank(x) - utf8Rank(y) : x - y;
}
