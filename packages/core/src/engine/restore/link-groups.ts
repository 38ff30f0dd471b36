import type { NodeId } from '../../backend.js';
import { joinPath } from '../../paths.js';
import { DIRECTORY, type DirectoryNode, LINKED, type Node } from '../../tree/node.js';
import type { Location } from '../../tree/tree.js';
import type { View } from '../view.js';

/**
 * Maps each path of a file or symlink with several names to one text: all paths of that node, joined. Paths for which
 * `counts` returns false are left out. Lists only directories that may have such nodes in or under them.
 */
export function linkGroups(view: View, counts: (path: string, node: Node) => boolean): ReadonlyMap<string, string> {
  const names = new Map<NodeId, string[]>();
  for (let level: Location[] = [view.tree.rootLocation]; level.length > 0; ) {
    const next: Location[] = [];
    const listed = level.filter(({ directory }) => mayHoldLinked(directory));
    // What is known of a remote storage may be old: another client may have added a name under a directory since.
    for (const { directory } of level) if (!mayHoldLinked(directory)) view.relyOnTree(directory);
    const listings = view.all(listed, (location) => ({ location, entries: view.list(location) }));
    for (const { location, entries } of listings) {
      entries.forEach((entry, name) => {
        const path = joinPath(location.path, name);
        if (entry.kind === DIRECTORY) next.push(view.tree.childLocation(location, name, entry));
        else if (entry.kind === LINKED && counts(path, view.tree.resolve(entry) as Node))
          names.set(entry.id, [...(names.get(entry.id) ?? []), path]);
      });
    }
    level = next;
  }
  const groups = new Map<string, string>();
  for (const paths of names.values()) {
    const group = paths.sort().join('\0');
    for (const path of paths) groups.set(path, group);
  }
  return groups;
}

function mayHoldLinked({ linked, origin }: DirectoryNode): boolean {
  return linked > 0 || origin?.uncounted === true;
}
