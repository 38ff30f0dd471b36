import { type NodeId, pathSegments } from '@scratchfs/core';
import { visitNames } from './delta-node.js';
import type { Draft } from './draft.js';

/**
 * Removes the entries that lead to files which a head no longer has, so that the disk shows at their paths. They
 * remain, for example, if an accept has added other names of a file with hard links, and the change of the file itself
 * is then undone.
 * @param ids files that were removed from the head
 */
export function dropDangling(draft: Draft, ids: ReadonlySet<NodeId>): void {
  if (ids.size === 0) return;
  const found: string[] = [];
  visitNames(draft.current, (path, { link }) => {
    if (link !== undefined && ids.has(link)) found.push(path);
  });
  for (const path of found) draft.setEntry(pathSegments(path), undefined);
}
