import type { NodeId } from '@scratchfs/core';
import { type DeltaNode, NO_NAMES } from './delta-node.js';
import type { Draft } from './draft.js';

/**
 * Removes the entries that lead to files which a head does not have any more, so that the disk shows there: names of the
 * disk that an accept has taken into the attempt, while the change of the file was made, and is taken back, under others.
 */
export function dropDangling(draft: Draft, ids: ReadonlySet<NodeId>): void {
  if (ids.size === 0) return;
  const found: string[][] = [];
  const visit = (above: readonly string[], { names = NO_NAMES }: DeltaNode): void => {
    for (const [name, { node, link }] of names) {
      if (link !== undefined && ids.has(link)) found.push([...above, name]);
      if (node !== null) visit([...above, name], node);
    }
  };
  visit([], draft.current.root);
  for (const names of found) draft.setEntry(names, undefined);
}
