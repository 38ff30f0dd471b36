import type { NodeId } from '../backend.js';
import type { EntryKind } from '../entry.js';
import { compareNames } from '../paths.js';
import { DIRECTORY, kindName, type Node } from '../tree/node.js';
import { type Delta, pathOf, type Spot } from './delta.js';
import { isSameOwner } from './same-state.js';
import type { EntryChange } from './types.js';

/** A delta as people read it: one line a name, sorted by path. */
export function describeDelta(delta: Delta): EntryChange[] {
  const changes: EntryChange[] = [];
  const before = (spot: Spot): string => pathOf(spot, (id) => delta.before.get(id));
  const after = (spot: Spot): string => pathOf(spot, (id) => delta.after.get(id) ?? delta.before.get(id));
  const departures = delta.departures();
  const arrivals = delta.arrivals();
  const renamed = new Set<NodeId>();
  for (const [id, spots] of arrivals) {
    const from = departures.get(id) ?? [];
    spots.forEach((spot, i) => {
      const kind = delta.kinds.get(id) as EntryKind;
      const old = from[i];
      if (old === undefined) changes.push({ path: after(spot), change: 'added', kind });
      else changes.push({ path: after(spot), change: 'renamed', from: before(old), kind });
      renamed.add(id);
    });
  }
  for (const [id, spots] of departures) {
    for (const spot of spots.slice(arrivals.get(id)?.length ?? 0))
      changes.push({ path: before(spot), change: 'removed', kind: delta.kinds.get(id) as EntryKind });
  }
  for (const [id, change] of delta.nodes) {
    if (change.before === undefined || change.after === undefined || !isSeen(change.before, change.after)) continue;
    const spot = delta.after.get(id) ?? delta.fileAfter.get(id);
    changes.push({ path: spot === undefined ? '/' : after(spot), change: 'modified', kind: kindName(change.after) });
  }
  return changes.sort((a, b) => compareNames(a.path, b.path) || compareNames(a.change, b.change));
}

/** The times of a directory follow from its names: only what else they are made is a change. */
function isSeen(before: Node, after: Node): boolean {
  if (!isSameOwner(before.meta, after.meta)) return true;
  const { mtime, ctime, atime } = after.meta;
  if (before.meta.atime !== atime) return true;
  if (before.kind === DIRECTORY) return before.meta.mtime !== mtime && mtime !== ctime;
  if (before.meta.mtime !== mtime) return true;
  return 'data' in before && 'data' in after && (before.data !== after.data || before.size !== after.size);
}
