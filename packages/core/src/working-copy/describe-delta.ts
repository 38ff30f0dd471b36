import { runSteps, type Steps } from '../engine/scheduling/time-slice.js';
import type { EntryKind } from '../entry.js';
import { compareNames } from '../paths.js';
import { DIRECTORY, kindName, type Node } from '../tree/node.js';
import { type Delta, Paths } from './delta.js';
import { isSameOwner } from './same-state.js';
import type { EntryChange } from './types.js';

/**
 * Returns a delta for people, sorted by path: names that were added, removed or renamed, and entries that were
 * modified. An entry that was renamed and modified is listed twice.
 */
export function describeDelta(delta: Delta): EntryChange[] {
  return runSteps(describeSteps(delta));
}

/** Like {@link describeDelta}, in slices. */
export function* describeSteps(delta: Delta): Steps<EntryChange[]> {
  const changes: EntryChange[] = [];
  const before = new Paths((id) => delta.before.get(id));
  const after = new Paths((id) => delta.after.get(id) ?? delta.before.get(id));
  const departures = delta.departures();
  const arrivals = delta.arrivals();
  for (const [id, spots] of arrivals) {
    const from = departures.get(id) ?? [];
    spots.forEach((spot, i) => {
      const kind = delta.kinds.get(id) as EntryKind;
      const old = from[i];
      if (old === undefined) changes.push({ path: after.of(spot), change: 'added', kind });
      else changes.push({ path: after.of(spot), change: 'renamed', from: before.of(old), kind });
    });
    yield;
  }
  for (const [id, spots] of departures) {
    for (const spot of spots.slice(arrivals.get(id)?.length ?? 0))
      changes.push({ path: before.of(spot), change: 'removed', kind: delta.kinds.get(id) as EntryKind });
    yield;
  }
  for (const [id, change] of delta.nodes) {
    if (change.before === undefined || change.after === undefined || !isSeen(change.before, change.after)) continue;
    const spot = delta.after.get(id) ?? delta.fileAfter.get(id);
    changes.push({ path: spot === undefined ? '/' : after.of(spot), change: 'modified', kind: kindName(change.after) });
    yield;
  }
  return changes.sort((a, b) => compareNames(a.path, b.path) || compareNames(a.change, b.change));
}

/**
 * Reports whether a change of a node is worth listing. Times of a directory that follow from its names do not count.
 */
function isSeen(before: Node, after: Node): boolean {
  if (!isSameOwner(before.meta, after.meta)) return true;
  const { mtime, ctime, atime } = after.meta;
  if (before.meta.atime !== atime) return true;
  if (before.kind === DIRECTORY) return before.meta.mtime !== mtime && mtime !== ctime;
  if (before.meta.mtime !== mtime) return true;
  return 'data' in before && 'data' in after && (before.data !== after.data || before.size !== after.size);
}
