import { pathSegments, type Version } from '@scratchfs/core';
import { type DeltaEntry, type DeltaNode, entryAt, type Head, NO_NAMES } from './delta-node.js';
import { Draft } from './draft.js';

/**
 * Returns a head with one path as another head has it. Directories above that only the other head has come along without
 * their other names.
 */
export function restoredPath(head: Head, wanted: Head, path: string, version: Version): Head {
  const names = pathSegments(path);
  const entry = entryAt(wanted, names);
  if (entry === entryAt(head, names)) return head;
  const draft = new Draft(head, version);
  for (let depth = 1; depth < names.length; depth++) {
    const above = names.slice(0, depth);
    if (entryAt(draft.current, above)?.node?.kind === 'directory') continue;
    const shell = entryAt(wanted, above);
    // Both heads show the disk there, or nothing.
    if (shell?.node?.kind !== 'directory') return head;
    draft.setEntry(above, { ...shell, node: { ...shell.node, names: NO_NAMES } });
  }
  draft.setEntry(names, entry);
  const copyInodes = ({ node, link }: DeltaEntry): void => {
    if (link !== undefined) draft.setInode(link, wanted.inodes.get(link) as DeltaNode);
    for (const child of node?.names?.values() ?? []) copyInodes(child);
  };
  if (entry !== undefined) copyInodes(entry);
  return draft.head;
}
