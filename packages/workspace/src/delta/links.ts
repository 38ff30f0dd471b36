import type { NodeId, Version } from '@scratchfs/core';
import { type DeltaNode, type Head, NO_NAMES } from './delta-node.js';
import type { Draft } from './draft.js';

/** Returns how many changed names lead to each file with several names. */
export function countsOfNames({ root, inodes }: Head): ReadonlyMap<NodeId, number> {
  const counts = new Map<NodeId, number>();
  const visit = ({ names = NO_NAMES }: DeltaNode): void => {
    for (const { node, link } of names.values()) {
      if (link !== undefined) counts.set(link, (counts.get(link) ?? 0) + 1);
      if (node !== null) visit(node);
    }
  };
  if (inodes.size > 0) visit(root);
  return counts;
}

/**
 * Raises the link counts of files to the number of their changed names. If the person renames a name of a file, the
 * attempt may have the new name beside the old one, and the file then has more names than on the disk.
 */
export function raiseLinks(draft: Draft, version: Version): void {
  for (const [id, links] of countsOfNames(draft.current)) {
    const node = draft.current.inodes.get(id);
    if (node !== undefined && links > (node.links ?? 1)) draft.setInode(id, { ...node, links, version });
  }
}
