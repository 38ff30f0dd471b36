import { type DeltaNode, type Head, NO_NAMES } from './delta-node.js';

/** Returns the paths that a head has changed, parents first. A removed or moved directory counts once. */
export function changedPaths(head: Head): string[] {
  const paths: string[] = [];
  const visit = (path: string, directory: DeltaNode): void => {
    for (const [name, { node }] of directory.names ?? NO_NAMES) {
      const at = `${path}/${name}`;
      const isShown = node?.kind === 'directory' && node.meta === undefined && node.from?.isMoved !== true;
      if (!isShown) paths.push(at);
      if (node?.kind === 'directory') visit(at, node);
    }
  };
  visit('', head.root);
  return paths;
}
