/** A node of the model. It is plain and mutable, so keeping an old state requires a full copy. */
export interface ModelNode {
  ino: number;
  kind: 'file' | 'directory' | 'symlink';
  mode: number;
  uid: number;
  gid: number;
  atime: number;
  mtime: number;
  ctime: number;
  birthtime: number;
  bytes: Uint8Array<ArrayBuffer>;
  target: string;
  names: Map<string, ModelNode>;
}

/** Returns a full copy of everything under a node; names of one node share one copy. */
export function copyGraph(node: ModelNode, copies = new Map<ModelNode, ModelNode>()): ModelNode {
  const known = copies.get(node);
  if (known !== undefined) return known;
  const copy: ModelNode = { ...node, bytes: node.bytes.slice(), names: new Map() };
  copies.set(node, copy);
  for (const [name, child] of node.names) copy.names.set(name, copyGraph(child, copies));
  return copy;
}

export interface ModelCounts {
  totalSize: number;
  fileCount: number;
  directoryCount: number;
  nodeCount: number;
}

/** Counts sizes and names by walking the whole tree. */
export function countGraph(root: ModelNode): ModelCounts {
  const counts = { totalSize: 0, fileCount: 0, directoryCount: 0, nodeCount: 0 };
  const seen = new Set<ModelNode>();
  const visit = (node: ModelNode): void => {
    for (const child of node.names.values()) {
      counts.nodeCount += 1;
      if (child.kind === 'directory') counts.directoryCount += 1;
      else counts.fileCount += 1;
      if (!seen.has(child)) counts.totalSize += sizeOf(child);
      seen.add(child);
      visit(child);
    }
  };
  visit(root);
  return counts;
}

export function sizeOf(node: ModelNode): number {
  if (node.kind === 'symlink') return new TextEncoder().encode(node.target).length;
  return node.bytes.length;
}

/** Returns the number of names in the tree that lead to a node. */
export function countNames(root: ModelNode, node: ModelNode): number {
  let names = 0;
  for (const child of root.names.values()) {
    if (child === node) names += 1;
    names += countNames(child, node);
  }
  return names;
}
