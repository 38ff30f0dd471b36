import type { NodeId } from '@scratchfs/core';
import { type DeltaNode, type Head, NO_NAMES } from './delta-node.js';

const known = new WeakMap<DeltaNode, ReadonlySet<NodeId>>();

/** Returns the ids of the files and directories that an attempt has changed, without those of files with several names. */
function idsOf({ root }: Head): ReadonlySet<NodeId> {
  let ids = known.get(root);
  if (ids !== undefined) return ids;
  const found = new Set<NodeId>();
  const visit = ({ names = NO_NAMES }: DeltaNode): void => {
    for (const { node } of names.values()) {
      if (node === null) continue;
      found.add(node.id);
      if (node.kind === 'directory') visit(node);
    }
  };
  visit(root);
  ids = found;
  known.set(root, ids);
  return ids;
}

/**
 * Returns the id under which a node of the disk shows at a path that the attempt has not changed. Usually that is its
 * own id. If a changed node of the attempt has that id, a suffix is added, because two nodes must not have one id: the
 * person has renamed a file or directory that the attempt has changed at its old path, or has given it another name.
 */
export function shownId(head: Head, id: NodeId): NodeId {
  const ids = idsOf(head);
  let shown = id;
  while (ids.has(shown)) shown = `${shown}${OTHER}`;
  return shown;
}

const OTHER = '~';

/**
 * Tracks how the shown ids of nodes of the disk change while an attempt object is used, because the attempt changes
 * such a node or undoes that. The listing of its directory on the disk then has the same version but other ids, so it
 * gets a suffix.
 */
export class ShownIds {
  #last: ReadonlySet<NodeId> = new Set();
  /** Ids that a changed node had in an earlier head, and none has in the last one. */
  readonly #lost = new Set<NodeId>();
  /** Ids of the disk that were shown as others. */
  readonly #replaced = new Set<NodeId>();
  #count = 0;

  /** Must be called with each head that is shown. */
  follow(head: Head): void {
    const ids = idsOf(head);
    const last = this.#last;
    if (ids === last) return;
    this.#last = ids;
    let isOther = false;
    for (const id of last) {
      if (ids.has(id)) continue;
      this.#lost.add(id);
      isOther ||= this.#replaced.has(id);
    }
    if (this.#lost.size > 0) for (const id of ids) isOther = this.#lost.delete(id) || isOther;
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
