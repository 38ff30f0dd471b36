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
 * Returns the id of a node of the disk at a path that the attempt has not changed. That is another one than on the disk if
 * a changed node has it: the person has renamed a file or directory that the attempt has changed at its old path, or has
 * given it another name, and two nodes must not have one id.
 */
export function shownId(head: Head, id: NodeId): NodeId {
  const ids = idsOf(head);
  let shown = id;
  while (ids.has(shown)) shown = `${shown}${OTHER}`;
  return shown;
}

const OTHER = '~';

/** Returns the id that a node has on the disk. */
export function lowerId(id: NodeId): NodeId {
  return typeof id === 'string' && id.endsWith(OTHER) ? id.replace(/~+$/u, '') : id;
}
