import type { ContentNode } from '../../tree/content.js';
import { DIRECTORY, type DirectoryNode, FILE, type TreeNode, Unloaded } from '../../tree/node.js';
import type { TreeState } from '../../tree/tree.js';

/** Yields the files of some states whose content is loaded. Shared parts of directories are visited once. */
export function* liveContents(states: readonly TreeState[]): Generator<ContentNode> {
  const seen = new Set<object>();
  const pending: DirectoryNode[] = [];
  for (const state of states) {
    for (const { node } of state.inodes.values()) if (isLoadedFile(node)) yield node as ContentNode;
    pending.push(state.root);
  }
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const files: ContentNode[] = [];
    at.entries.forEachUnseen(seen, (node) => {
      if (node.kind === DIRECTORY) pending.push(node);
      else if (isLoadedFile(node)) files.push(node as ContentNode);
    });
    yield* files;
  }
}

function isLoadedFile(node: TreeNode): boolean {
  return node.kind === FILE && !(node.data instanceof Unloaded);
}
