import type { NodeId } from '@scratchfs/core';
import type { DeltaEntry, DeltaNode, Head } from './delta-node.js';
import type { HeadChanges } from './head-changes.js';

// Names become lists, because a name may be `__proto__`. What is under a directory becomes one flat list, parents
// first: JSON nested by thousands of directories would exhaust the stack.

type Own = Omit<DeltaNode, 'names'>;
type OwnEntry = Omit<DeltaEntry, 'node'> & { readonly node: Own | null };
/** Depth under the encoded node, from 1; name; entry. */
type Inside = readonly (readonly [depth: number, name: string, entry: OwnEntry])[];
type EncodedNode = Own & { readonly inside?: Inside };
type EncodedEntry = OwnEntry & { readonly inside?: Inside };

export interface EncodedHead {
  readonly root: EncodedNode;
  readonly inodes: readonly (readonly [NodeId, EncodedNode])[];
}

export interface EncodedChanges {
  readonly entries: readonly {
    readonly path: string;
    readonly before?: EncodedEntry | undefined;
    readonly after?: EncodedEntry | undefined;
    readonly isShallow?: boolean | undefined;
  }[];
  readonly inodes: readonly {
    readonly id: NodeId;
    readonly before?: EncodedNode | undefined;
    readonly after?: EncodedNode | undefined;
  }[];
}

export function encodeHead({ root, inodes }: Head): EncodedHead {
  return { root: encodeNode(root), inodes: [...inodes].map(([id, node]) => [id, encodeNode(node)]) };
}

export function decodeHead({ root, inodes }: EncodedHead): Head {
  return { root: decodeNode(root), inodes: new Map(inodes.map(([id, node]) => [id, decodeNode(node)])) };
}

export function encodeChanges({ entries, inodes }: HeadChanges): EncodedChanges {
  return {
    entries: entries.map(({ before, after, ...change }) => ({
      ...change,
      before: before && encodeEntry(before),
      after: after && encodeEntry(after),
    })),
    inodes: inodes.map(({ id, before, after }) => ({
      id,
      before: before && encodeNode(before),
      after: after && encodeNode(after),
    })),
  };
}

export function decodeChanges({ entries, inodes }: EncodedChanges): HeadChanges {
  return {
    entries: entries.map(({ before, after, ...change }) => ({
      ...change,
      before: before && decodeEntry(before),
      after: after && decodeEntry(after),
    })),
    inodes: inodes.map(({ id, before, after }) => ({
      id,
      before: before && decodeNode(before),
      after: after && decodeNode(after),
    })),
  };
}

function encodeNode(node: DeltaNode): EncodedNode {
  const { names: _, ...own } = node;
  const inside = insideOf(node);
  return inside.length === 0 ? own : { ...own, inside };
}

function decodeNode({ inside = [], ...own }: EncodedNode): DeltaNode {
  return withInside(own, inside);
}

function encodeEntry(entry: DeltaEntry): EncodedEntry {
  const inside = entry.node === null ? [] : insideOf(entry.node);
  return inside.length === 0 ? ownEntry(entry) : { ...ownEntry(entry), inside };
}

function decodeEntry({ inside = [], ...entry }: EncodedEntry): DeltaEntry {
  return { ...entry, node: entry.node && withInside(entry.node, inside) };
}

function ownEntry({ node, ...entry }: DeltaEntry): OwnEntry {
  if (node === null) return { ...entry, node };
  const { names: _, ...own } = node;
  return { ...entry, node: own };
}

function insideOf(node: DeltaNode): Inside {
  const inside: [number, string, OwnEntry][] = [];
  const pending = [{ depth: 1, names: [...(node.names ?? [])].reverse() }];
  for (let last = pending.at(-1); last !== undefined; last = pending.at(-1)) {
    const next = last.names.pop();
    if (next === undefined) {
      pending.pop();
      continue;
    }
    const [name, entry] = next;
    inside.push([last.depth, name, ownEntry(entry)]);
    const names = entry.node?.names;
    if (names !== undefined && names.size > 0) pending.push({ depth: last.depth + 1, names: [...names].reverse() });
  }
  return inside;
}

function withInside(own: Own, inside: Inside): DeltaNode {
  if (own.kind !== 'directory') return own;
  const top = new Map<string, DeltaEntry>();
  const above = [top];
  for (const [depth, name, entry] of inside) {
    above.length = depth;
    const isDirectory = entry.node?.kind === 'directory';
    const names = new Map<string, DeltaEntry>();
    above.at(-1)?.set(name, isDirectory ? { ...entry, node: { ...(entry.node as Own), names } } : entry);
    if (isDirectory) above.push(names);
  }
  return { ...own, names: top };
}
