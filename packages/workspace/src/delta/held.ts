import { type BackendCall, joinPath, type NodeRecord, type Version } from '@scratchfs/core';
import { keyOf, type Lower } from '../backend/lower.js';
import { type Contents, hashOf } from '../log/contents.js';
import type { EntryState } from '../operation.js';
import { stateOfRecord } from '../refresh/capture.js';
import { baseOfLink, type DeltaNode, type Head } from './delta-node.js';

/**
 * Entry of a directory when the attempt hid it. With a state, a file with the same content and mode counts as the same
 * file, even if a program has written it anew.
 */
export type HeldEntry = readonly [name: string, key: Version, state?: EntryState | undefined];

/** Lower directories that were listed whole when the attempt hid them, each with its entries. */
export type Held = readonly (readonly [path: string, entries: readonly HeldEntry[]])[];

/**
 * Maximum number of names that are listed when a directory is hidden, so that moving or removing a large one stays
 * quick.
 */
const MAX_NAMES = 2_000;
/** Maximum total bytes of the files that are read when a directory is removed. Those beyond are known by key alone. */
const MAX_BYTES = 16 << 20;

interface Pending {
  readonly path: string;
  readonly id: NodeRecord['id'];
  /** The directory in the attempt, if it has changed something in it. */
  readonly node: DeltaNode | undefined;
}

/**
 * Lists what a lower directory holds as the attempt knows it, breadth first. Ends before the directory with
 * which the number of names would exceed the maximum. An entry that the attempt has changed counts as it was when the
 * change began, and so does a name of a file that the attempt has changed under another name.
 * @param isRemoved true to include states, for which files are read up to a maximum of bytes
 */
export async function heldIn(
  lower: Lower,
  contents: Contents,
  head: Head,
  top: Pending,
  isRemoved: boolean,
  call: BackendCall | undefined,
): Promise<Held> {
  const held: Held[number][] = [];
  let left = MAX_NAMES;
  let bytes = MAX_BYTES;
  const pending = [top];
  for (let next = pending.shift(); next !== undefined && left > 0; next = pending.shift()) {
    const { path, id, node } = next;
    const [page] = await lower.load([{ kind: 'list', at: { path, id }, after: undefined, limit: left }], call);
    if (page?.kind !== 'list') continue;
    left -= page.names.length;
    if (!page.complete) continue;
    const names: HeldEntry[] = [];
    const unread: string[] = [];
    for (const [i, name] of page.names.entries()) {
      const record = page.nodes[i] as NodeRecord;
      const inside = joinPath(path, name);
      const entry = node?.names?.get(name);
      const base = entry?.base?.path === inside ? entry.base : undefined;
      const link = isRemoved && entry === undefined && head.inodes.has(record.id) ? record.id : undefined;
      // An empty key matches no file, so the state is compared.
      if (link !== undefined) names.push([name, '', baseOfLink(head, link)?.state ?? undefined]);
      else if (isRemoved && entry === undefined && record.kind === 'file' && record.size <= bytes) {
        bytes -= record.size;
        unread.push(name);
      } else if (entry === undefined)
        names.push([name, keyOf(record), isRemoved && record.kind !== 'file' ? stateOfRecord(record) : undefined]);
      else if (base?.key !== undefined) names.push([name, base.key, isRemoved ? (base.state ?? undefined) : undefined]);
      if (record.kind !== 'directory') continue;
      if (entry === undefined || entry.node?.from?.path === inside)
        pending.push({ path: inside, id: record.id, node: entry?.node ?? undefined });
      else if (entry.base?.held !== undefined) held.push(...(await readHeld(contents, entry.base.held, call?.signal)));
    }
    held.push([path, [...names, ...(await readEntries(lower, path, unread, call))]]);
  }
  return held;
}

/** Reads files of a directory. Those that have vanished are left out. */
async function readEntries(
  lower: Lower,
  directory: string,
  names: readonly string[],
  call: BackendCall | undefined,
): Promise<HeldEntry[]> {
  const results = await lower.load(
    names.map((name) => ({ kind: 'path', path: joinPath(directory, name), content: MAX_BYTES })),
    call,
  );
  return results.flatMap((result, i): HeldEntry[] => {
    const record = result.kind === 'path' ? result.nodes.at(-1) : undefined;
    if (result.kind !== 'path' || !record) return [];
    const { content } = result;
    const hash = content && hashOf(content);
    const state = { ...stateOfRecord(record), ...(hash !== undefined && { hash }) };
    return [[names[i] as string, keyOf(record), state]];
  });
}

export function encodeHeld(held: Held): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(held));
}

export async function readHeld(contents: Contents, hash: string, signal: AbortSignal | undefined): Promise<Held> {
  return JSON.parse(new TextDecoder().decode(await contents.read(hash, { signal }))) as Held;
}
