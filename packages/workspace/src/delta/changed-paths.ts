import { type DeltaEntry, type DeltaNode, type Head, isEqualChange, NO_NAMES, nodeOf } from './delta-node.js';

/**
 * Returns the paths below the root at and under which a head may differ from the disk, parents first. A removed
 * directory is returned as one path; a moved one as its old path, its new path and what was changed in it.
 */
export function changedPaths(head: Head): string[] {
  return entriesOf(head, () => true).map(({ path }) => path);
}

/**
 * Returns the number of paths that a head has changed, without those that were equal on the disk at the last
 * comparison. A move is one.
 */
export function countChanges(head: Head): number {
  const entries = entriesOf(head, (entry) => !isEqualChange(entry, nodeOf(head, entry) ?? null));
  const origins = new Set(
    entries.map(({ entry }) => {
      const node = nodeOf(head, entry);
      return node?.from?.isMoved === true ? node.from.path : node?.origin?.path;
    }),
  );
  const isCounted = ({ path, entry }: ChangedEntry): boolean => nodeOf(head, entry) !== undefined || !origins.has(path);
  return entries.filter(isCounted).length;
}

interface ChangedEntry {
  readonly path: string;
  readonly entry: DeltaEntry;
}

function entriesOf(head: Head, isCounted: (entry: DeltaEntry) => boolean): ChangedEntry[] {
  const entries: ChangedEntry[] = [];
  const visit = (path: string, directory: DeltaNode): void => {
    for (const [name, entry] of directory.names ?? NO_NAMES) {
      const { node } = entry;
      const at = `${path}/${name}`;
      const isShown = node?.kind === 'directory' && node.meta === undefined && node.from?.isMoved !== true;
      if (!isShown && isCounted(entry)) entries.push({ path: at, entry });
      if (node?.kind === 'directory') visit(at, node);
    }
  };
  visit('', head.root);
  return entries;
}
