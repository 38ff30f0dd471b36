import type { TreeNode } from '../tree/node.js';
import type { Location } from '../tree/tree.js';
import { visibleNames } from './operations/read.js';
import type { View } from './view.js';

/** A directory's entries during a walk. */
export interface Siblings {
  readonly location: Location;
  /** Visible names, in UTF-8 order. */
  readonly names: readonly string[];
  /** Values of the names, if nothing is hidden and nothing can be loaded during the walk. */
  readonly entries: readonly TreeNode[] | undefined;
}

/** @throws NotLoaded if the listing is not loaded */
export function siblingsIn(view: View, location: Location): Siblings {
  const listed = view.list(location);
  const names = visibleNames(view, location.path, listed);
  const isPlain = view.source === undefined && names.length === listed.size;
  return { location, names, entries: isPlain ? listed.values() : undefined };
}

/** Returns the entry of the name at an index. */
export function siblingAt({ location, names, entries }: Siblings, at: number): TreeNode {
  return (entries === undefined ? location.directory.entries.get(names[at] as string) : entries[at]) as TreeNode;
}
