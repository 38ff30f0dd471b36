import type { CommitResult, Limits } from '@scratchfs/core';
import type { DeltaEntry, DeltaNode, Head } from './delta-node.js';

/** Amount that an attempt has added: bytes of its contents and link targets, and number of new names. */
export interface Usage {
  readonly size: number;
  readonly nodes: number;
}

const known = new WeakMap<DeltaNode, Usage>();

/** Returns what a head adds to the lower directory. The sums of directories that heads share are cached. */
export function usageOf(head: Head): Usage {
  const { size, nodes } = usageIn(head.root);
  let linked = 0;
  for (const inode of head.inodes.values()) linked += sizeOf(inode);
  return { size: size + linked, nodes };
}

function usageIn(directory: DeltaNode): Usage {
  let usage = known.get(directory);
  if (usage !== undefined) return usage;
  let [size, nodes] = [0, 0];
  for (const entry of directory.names?.values() ?? []) {
    if (isAdded(entry)) nodes += 1;
    if (entry.node === null) continue;
    if (entry.node.kind !== 'directory') size += sizeOf(entry.node);
    else {
      const inner = usageIn(entry.node);
      size += inner.size;
      nodes += inner.nodes;
    }
  }
  usage = { size, nodes };
  known.set(directory, usage);
  return usage;
}

/** Reports whether an entry is a name that the lower directory did not have. */
function isAdded({ node, link, base }: DeltaEntry): boolean {
  return (node !== null || link !== undefined) && (base === undefined || base.state === null);
}

function sizeOf({ content, target }: DeltaNode): number {
  return content?.size ?? (target === undefined ? 0 : Buffer.byteLength(target));
}

/** Returns the limit that a change exceeds, if any. A change that only shrinks exceeds none. */
export function exceededLimit(
  before: Head,
  after: Head,
  { maxTotalSize, maxNodeCount }: Limits,
): Extract<CommitResult, { kind: 'limit' }> | undefined {
  if (maxTotalSize === undefined && maxNodeCount === undefined) return undefined;
  const [used, requested] = [usageOf(before), usageOf(after)];
  if (maxTotalSize !== undefined && requested.size > maxTotalSize && requested.size > used.size)
    return { kind: 'limit', limit: 'maxTotalSize', allowed: maxTotalSize, used: used.size, requested: requested.size };
  if (maxNodeCount !== undefined && requested.nodes > maxNodeCount && requested.nodes > used.nodes)
    return {
      kind: 'limit',
      limit: 'maxNodeCount',
      allowed: maxNodeCount,
      used: used.nodes,
      requested: requested.nodes,
    };
  return undefined;
}
