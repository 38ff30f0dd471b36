import { type BackendCall, joinPath, type NodeRecord, type Version } from '@scratchfs/core';
import { keyOf, type Lower } from '../backend/lower.js';
import type { Contents } from '../log/contents.js';
import type { DeltaNode } from './delta-node.js';

/** Lower directories that were listed whole when the attempt hid them, each with the keys of its names. */
export type Held = readonly (readonly [path: string, names: readonly (readonly [name: string, key: Version])[]])[];

/** Maximum number of names that are listed when a directory is hidden, so that moving a large one stays quick. */
const MAX_NAMES = 2_000;

interface Pending {
  readonly path: string;
  readonly id: NodeRecord['id'];
  /** The directory in the attempt, if it has changed something in it. */
  readonly node: DeltaNode | undefined;
}

/**
 * Lists what a lower directory holds as the attempt knows it, breadth first. Directories that would exceed the maximum
 * number of names are left out. An entry that the attempt has changed counts as it was when the change began.
 */
export async function heldIn(
  lower: Lower,
  contents: Contents,
  top: Pending,
  call: BackendCall | undefined,
): Promise<Held> {
  const held: Held[number][] = [];
  let left = MAX_NAMES;
  const pending = [top];
  for (let next = pending.shift(); next !== undefined && left > 0; next = pending.shift()) {
    const { path, id, node } = next;
    const [page] = await lower.load([{ kind: 'list', at: { path, id }, after: undefined, limit: left }], call);
    if (page?.kind !== 'list') continue;
    left -= page.names.length;
    if (!page.complete) continue;
    const names: [string, Version][] = [];
    for (const [i, name] of page.names.entries()) {
      const record = page.nodes[i] as NodeRecord;
      const inside = joinPath(path, name);
      const entry = node?.names?.get(name);
      const key = entry === undefined ? keyOf(record) : entry.base?.path === inside ? entry.base.key : undefined;
      if (key !== undefined) names.push([name, key]);
      if (record.kind !== 'directory') continue;
      if (entry === undefined || entry.node?.from?.path === inside)
        pending.push({ path: inside, id: record.id, node: entry?.node ?? undefined });
      else if (entry.base?.held !== undefined) held.push(...(await readHeld(contents, entry.base.held, call?.signal)));
    }
    held.push([path, names]);
  }
  return held;
}

export function encodeHeld(held: Held): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(held));
}

export async function readHeld(contents: Contents, hash: string, signal: AbortSignal | undefined): Promise<Held> {
  return JSON.parse(new TextDecoder().decode(await contents.read(hash, { signal }))) as Held;
}
