import type { NodeId } from '@scratchfs/core';
import { type DeltaNode, type Head, type Names, NO_NAMES } from './delta-node.js';

/** Number of nodes with each id. */
type Counts = ReadonlyMap<NodeId, number>;

/** Maximum number of ids whose counts are kept beside the common ones. */
const MAX_CHANGED_IDS = 64;

/** A set of ids. Consecutive sets share a large map: copying it for each edit took a millisecond with 2,000 changes. */
class Ids {
  readonly #common: Counts;
  /** Counts that differ from the common ones. */
  readonly #changed: Counts;

  constructor(common: Counts, changed: Counts = new Map()) {
    this.#common = common;
    this.#changed = changed;
  }

  has(id: NodeId): boolean {
    return this.#count(id) > 0;
  }

  /** Returns the set after changes of the counts. */
  after(changes: Counts): Ids {
    const changed = new Map(this.#changed);
    for (const [id, by] of changes) if (by !== 0) changed.set(id, this.#count(id) + by);
    if (changed.size <= MAX_CHANGED_IDS) return new Ids(this.#common, changed);
    const common = new Map(this.#common);
    for (const [id, count] of changed) {
      if (count === 0) common.delete(id);
      else common.set(id, count);
    }
    return new Ids(common);
  }

  #count(id: NodeId): number {
    return this.#changed.get(id) ?? this.#common.get(id) ?? 0;
  }
}

const NO_IDS = new Ids(new Map());
const known = new WeakMap<DeltaNode, Ids>();

/** Returns the ids of an attempt's changed nodes, without files with several names. */
function idsOf({ root }: Head): Ids {
  let ids = known.get(root);
  if (ids === undefined) {
    ids = NO_IDS.after(countsBetween(NO_NAMES, root.names ?? NO_NAMES));
    known.set(root, ids);
  }
  return ids;
}

/** Returns the changes of the counts from one directory to another. Skips what they share. */
function countsBetween(before: Names, after: Names): Counts {
  const counts = new Map<NodeId, number>();
  const add = ({ id }: DeltaNode, by: number): void => void counts.set(id, (counts.get(id) ?? 0) + by);
  const compare = (a: DeltaNode | null, b: DeltaNode | null): void => {
    if (a === b) return;
    if (a?.id !== b?.id) {
      if (a !== null) add(a, -1);
      if (b !== null) add(b, 1);
    }
    compareNames(a?.names ?? NO_NAMES, b?.names ?? NO_NAMES);
  };
  const compareNames = (a: Names, b: Names): void => {
    if (a === b) return;
    let shared = 0;
    for (const [name, { node }] of a) {
      const other = b.get(name);
      if (other !== undefined) shared++;
      compare(node, other?.node ?? null);
    }
    if (shared === b.size) return;
    for (const [name, { node }] of b) if (!a.has(name)) compare(null, node);
  };
  compareNames(before, after);
  return counts;
}

/**
 * Returns the id under which a node of the disk shows at a path that the attempt has not changed. Usually that is its
 * own id. If a changed node of the attempt has that id, a suffix is added, because two nodes must not have one id. This
 * happens, for example, if the person has renamed a file that the attempt has changed at its old path.
 */
export function shownId(head: Head, id: NodeId): NodeId {
  const ids = idsOf(head);
  let shown = id;
  // An id in the table of files with several names is that of the same file of the disk, but an id with a suffix must
  // be free there.
  while (ids.has(shown) || (shown !== id && head.inodes.has(shown))) shown = `${shown}${OTHER}`;
  return shown;
}

const OTHER = '~';

/**
 * Tracks how the shown ids of nodes of the disk change while an attempt object is used, because the attempt changes
 * such a node or undoes that. The listing of its directory on the disk then has the same version but other ids, so the
 * version gets a suffix.
 */
export class ShownIds {
  #names = NO_NAMES;
  #last = NO_IDS;
  /** Ids that a changed node had in an earlier head, and none has in the last one. */
  readonly #lost = new Set<NodeId>();
  /** Ids of the disk that were shown as others. */
  readonly #replaced = new Set<NodeId>();
  #count = 0;

  /** Must be called with each head that is shown. */
  follow({ root }: Head): void {
    const { names = NO_NAMES } = root;
    if (names === this.#names) return;
    const changes = countsBetween(this.#names, names);
    const last = this.#last;
    const ids = known.get(root) ?? last.after(changes);
    known.set(root, ids);
    this.#names = names;
    this.#last = ids;
    let isOther = false;
    for (const id of changes.keys()) {
      if (ids.has(id)) isOther = this.#lost.delete(id) || isOther;
      else if (last.has(id)) {
        this.#lost.add(id);
        isOther ||= this.#replaced.has(id);
      }
    }
    if (isOther) this.#count++;
  }

  /** Returns the id that a node of the disk has in a head. */
  of(head: Head, id: NodeId): NodeId {
    const shown = shownId(head, id);
    if (shown !== id) this.#replaced.add(id);
    return shown;
  }

  /** Suffix for the versions of listings of the disk. */
  get suffix(): string {
    return this.#count === 0 ? '' : `${OTHER}${this.#count}`;
  }
}

/** Returns the id that a node has on the disk. */
export function lowerId(id: NodeId): NodeId {
  return typeof id === 'string' && id.endsWith(OTHER) ? id.replace(/~+$/u, '') : id;
}
