import type { NodeId } from '@scratchfs/core';
import type { DeltaEntry, DeltaNode, Head } from './delta-node.js';
import type { HeadChanges } from './head-changes.js';

// Maps become lists of pairs, because a name may be `__proto__`.

type EncodedNode = Omit<DeltaNode, 'names'> & { readonly names?: readonly (readonly [string, EncodedEntry])[] };
type EncodedEntry = Omit<DeltaEntry, 'node'> & { readonly node: EncodedNode | null };

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

function encodeNode({ names, ...own }: DeltaNode): EncodedNode {
  return names === undefined ? own : { ...own, names: [...names].map(([name, entry]) => [name, encodeEntry(entry)]) };
}

function decodeNode({ names, ...own }: EncodedNode): DeltaNode {
  return names === undefined
    ? own
    : { ...own, names: new Map(names.map(([name, entry]) => [name, decodeEntry(entry)])) };
}

function encodeEntry({ node, ...entry }: DeltaEntry): EncodedEntry {
  return { ...entry, node: node && encodeNode(node) };
}

function decodeEntry({ node, ...entry }: EncodedEntry): DeltaEntry {
  return { ...entry, node: node && decodeNode(node) };
}
