import { detach } from './detach.js';
import { Entries } from './entries.js';
import { type EntriesNode, Inner, Leaf, MAX_CHILDREN, MAX_LEAF_NAMES } from './entries-node.js';
import type { Owner } from './owner.js';

/** Builds a tree from sorted, unique names. Its leaves are full, except perhaps the last two. */
export function entriesFromSorted<V>(owner: Owner, names: readonly string[], values: readonly V[]): Entries<V> {
  if (names.length === 0) return Entries.empty();
  let level: EntriesNode<V>[] = [];
  let firsts: string[] = [];
  for (const [from, to] of evenRuns(names.length, MAX_LEAF_NAMES)) {
    const kept = names.slice(from, to).map(detach);
    level.push(new Leaf(owner, kept, values.slice(from, to)));
    firsts.push(kept[0]!);
  }
  let height = 0;
  for (; level.length > 1; height++) {
    const above: EntriesNode<V>[] = [];
    const keys: string[] = [];
    for (const [from, to] of evenRuns(level.length, MAX_CHILDREN)) {
      above.push(new Inner(owner, firsts.slice(from, to), level.slice(from, to)));
      keys.push(firsts[from]!);
    }
    level = above;
    firsts = keys;
  }
  return Entries.fromParts({ root: level[0]!, height, count: names.length });
}

/** Divides `count` items into runs of at most `most`, all full except perhaps the last two, which share the rest. */
function evenRuns(count: number, most: number): [number, number][] {
  const runs: [number, number][] = [];
  let from = 0;
  while (count - from > 2 * most) {
    runs.push([from, from + most]);
    from += most;
  }
  if (count - from > most) {
    const middle = from + Math.ceil((count - from) / 2);
    runs.push([from, middle]);
    from = middle;
  }
  runs.push([from, count]);
  return runs;
}
