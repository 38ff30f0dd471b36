import { type DeltaEntry, type DeltaNode, type Head, isEqualChange, NO_NAMES, nodeOf } from './delta-node.js';

/**
 * Returns the paths at and under which a head may differ from the disk, parents first. For a removed directory that is
 * only its path, and for a moved one its old and its new path.
 */
export function changedPaths(head: Head): string[] {
  return pathsOf(head, () => true);
}

/**
 * Returns the number of paths that a head has changed, without those that were equal on the disk at the last
 * comparison.
 */
export function countChanges(head: Head): number {
  return pathsOf(head, (entry) => !isEqualChange(entry, nodeOf(head, entry) ?? null)).length;
}

function pathsOf(head: Head, isCounted: (entry: DeltaEntry) => boolean): string[] {
  const paths: string[] = [];
  const visit = (path: string, directory: DeltaNode): void => {
    for (const [name, entry] of directory.names ?? NO_NAMES) {
      const { node } = entry;
      const at = `${path}/${name}`;
      const isShown = node?.kind === 'directory' && node.meta === undefined && node.from?.isMoved !== true;
      if (!isShown && isCounted(entry)) paths.push(at);
      if (node?.kind === 'directory') visit(at, node);
    }
  };
  visit('', head.root);
  return paths;
}
