import type { NodeId, Version } from '@scratchfs/core';
import { type Head, visitNames } from './delta-node.js';
import type { Draft } from './draft.js';

/** Returns how many changed names lead to each file with several names. */
export function countsOfNames(head: Head): ReadonlyMap<NodeId, number> {
  const counts = new Map<NodeId, number>();
  if (head.inodes.size === 0) return counts;
  visitNames(head, (_, { link }) => {
    if (link !== undefined) counts.set(link, (counts.get(link) ?? 0) + 1);
  });
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
