import { createHash } from 'node:crypto';
import type { StatValue } from './outcome.js';
import { isEqual } from './outcome.js';

export interface TreeNode extends StatValue {
  /** Identity of the file: names of one file have equal numbers within one tree. */
  readonly ino: number;
  readonly atime: number;
  readonly mtime: number;
  readonly ctime: number;
  readonly content?: Uint8Array;
  readonly target?: string;
}

/** A whole filesystem by path, the root first. */
export type Tree = Map<string, TreeNode>;

const FIELDS = ['kind', 'mode', 'uid', 'gid', 'nlink', 'size', 'target', 'content'] as const;

/** Returns the first difference between two trees, times ignored, or undefined if they are equal. */
export function treeDifference(expected: Tree, actual: Tree): string | undefined {
  for (const path of expected.keys()) if (!actual.has(path)) return `${JSON.stringify(path)} is missing`;
  for (const path of actual.keys()) if (!expected.has(path)) return `${JSON.stringify(path)} should not be there`;
  const groups = [firstNames(expected), firstNames(actual)] as const;
  for (const [path, node] of expected) {
    const other = actual.get(path) as TreeNode;
    for (const field of FIELDS) {
      if (!isEqual(node[field], other[field]))
        return `${field} of ${JSON.stringify(path)}: ${text(node[field])}, not ${text(other[field])}`;
    }
    const [first, otherFirst] = [groups[0].get(node.ino), groups[1].get(other.ino)];
    if (first !== otherFirst)
      return `${JSON.stringify(path)} is one file with ${text(first)}, not with ${text(otherFirst)}`;
  }
  return undefined;
}

/** Returns the first name of each file, by `ino`. */
function firstNames(tree: Tree): Map<number, string> {
  const names = new Map<number, string>();
  for (const path of [...tree.keys()].sort()) {
    const { ino } = tree.get(path) as TreeNode;
    if (!names.has(ino)) names.set(ino, path);
  }
  return names;
}

/**
 * Returns a hash of the whole tree without times: paths, kinds, modes, owners, sizes, targets, contents, groups of
 * names.
 */
export function treeHash(tree: Tree): string {
  const hash = createHash('sha256');
  const groups = new Map<number, number>();
  for (const path of [...tree.keys()].sort()) {
    const node = tree.get(path) as TreeNode;
    const group = groups.get(node.ino) ?? groups.size;
    groups.set(node.ino, group);
    hash.update(JSON.stringify([path, group, ...FIELDS.slice(0, -1).map((field) => node[field] ?? null)]));
    if (node.content) hash.update(node.content);
  }
  return hash.digest('hex').slice(0, 16);
}

function text(value: unknown): string {
  if (value instanceof Uint8Array) return `${value.length} bytes ${Buffer.from(value.subarray(0, 16)).toString('hex')}`;
  return typeof value === 'number' ? `0o${value.toString(8)} (${value})` : (JSON.stringify(value) ?? 'nothing');
}
