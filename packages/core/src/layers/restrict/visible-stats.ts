import type { NodeId } from '../../backend.js';
import type { ComposedGuard, GuardedView } from '../../engine/composed-guard.js';
import type { FileSystemStats } from '../../limits.js';
import { joinPath } from '../../paths.js';
import { DIRECTORY, LINKED, type Node } from '../../tree/node.js';
import type { Location } from '../../tree/tree.js';

/** Counts the visible entries in the same way as `stats`: a file with several names counts once in size. */
export function visibleStats(view: GuardedView, guard: ComposedGuard): FileSystemStats {
  let totalSize = 0;
  let fileCount = 0;
  let directoryCount = 0;
  const seen = new Set<NodeId>();
  for (let level: Location[] = [view.tree.rootLocation]; level.length > 0; ) {
    const next: Location[] = [];
    const listings = view.all(level, (location) => view.list(location));
    for (const [i, location] of level.entries()) {
      listings[i]?.forEach((entry, name) => {
        const node = view.tree.resolve(entry) as Node;
        if (!guard.isVisible(joinPath(location.path, name), node)) return;
        if (node.kind === DIRECTORY) {
          directoryCount += 1;
          next.push(view.tree.childLocation(location, name, node));
          return;
        }
        fileCount += 1;
        if (entry.kind === LINKED && seen.has(entry.id)) return;
        seen.add(node.id);
        totalSize += node.size;
        view.relyOnNode(node);
      });
    }
    level = next;
  }
  return { totalSize, fileCount, directoryCount, nodeCount: fileCount + directoryCount };
}
