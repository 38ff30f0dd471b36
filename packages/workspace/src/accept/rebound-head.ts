import { type CallOptions, isWithin, type NodeRecord, pathSegments, type Version } from '@scratchfs/core';
import { keyOf, type Lower } from '../backend/lower.js';
import { type Base, type DeltaEntry, type DeltaNode, type Head, NO_NAMES } from '../delta/delta-node.js';
import { Draft } from '../delta/draft.js';
import type { DiskWrite } from './accept-record.js';
import { sameState } from './attempt-change.js';
import { DiskReader } from './disk-reader.js';

/**
 * Adapts a head to files and directories that writes to the disk, such as the undo of an accept, have created anew.
 * Otherwise they would count as created by the person, and a moved directory would lose the one that shows through it.
 */
export async function reboundHead(
  head: Head,
  writes: readonly DiskWrite[],
  lower: Lower,
  version: string,
  options: CallOptions = {},
): Promise<Head> {
  return rebound(head, await recordsOf(writes, lower, options), version);
}

/** Like {@link reboundHead}, for writes of some time ago: leaves out paths that the person has changed since. */
export async function headWithKnown(
  head: Head,
  writes: readonly DiskWrite[],
  { lower, directory }: { readonly lower: Lower; readonly directory: string },
  version: string,
  options: CallOptions = {},
): Promise<Head> {
  // Read before the states, so that the key of a later edit by the person is not among them.
  const made = await recordsOf(writes, lower, options);
  await using disk = DiskReader.open(directory, options.signal);
  for (const { path, after } of writes)
    if (made.has(path) && !sameState((await disk.read(path)).state, after)) made.delete(path);
  return rebound(head, made, version);
}

/** Returns the lower nodes at the written paths and the directories above them, by path. */
async function recordsOf(
  writes: readonly DiskWrite[],
  lower: Lower,
  options: CallOptions,
): Promise<Map<string, NodeRecord>> {
  const paths = writes.filter(({ after }) => after !== null).map(({ path }) => path);
  const along = await lower.paths(paths, options);
  const made = new Map<string, NodeRecord>();
  for (const [i, path] of paths.entries()) {
    const names = pathSegments(path);
    for (const [depth, record] of (along[i] ?? []).entries())
      if (depth > 0 && record) made.set(`/${names.slice(0, depth).join('/')}`, record);
  }
  return made;
}

function rebound(head: Head, made: Made, version: string): Head {
  const draft = new Draft(head, version);
  for (const [name, entry] of head.root.names ?? NO_NAMES) {
    const next = reboundEntry(entry, `/${name}`, made, version);
    if (next !== entry) draft.setEntry([name], next, true);
  }
  return draft.head;
}

type Made = ReadonlyMap<string, NodeRecord>;

function reboundEntry(entry: DeltaEntry, path: string, made: Made, version: Version): DeltaEntry {
  const { base, node } = entry;
  const isHidden = base?.path === path && base.state?.kind === 'directory' && node?.from?.path !== path;
  const nextBase = base && reboundBase(base, isHidden, made);
  const nextNode = node && reboundNode(node, path, made, version);
  return nextBase === base && nextNode === node ? entry : { ...entry, node: nextNode, base: nextBase };
}

function reboundBase(base: Base, isHidden: boolean, made: Made): Base {
  const directory = base.state?.kind === 'directory' ? made.get(base.path) : undefined;
  const known: Version[] = [];
  if (isHidden)
    for (const [path, record] of made) if (isWithin(path, base.path) && path !== base.path) known.push(keyOf(record));
  const isSame = directory?.kind !== 'directory' || base.key === keyOf(directory);
  if (isSame && known.length === 0) return base;
  return {
    ...base,
    ...(directory?.kind === 'directory' && { key: keyOf(directory) }),
    ...(known.length > 0 && { known: [...(base.known ?? []), ...known] }),
  };
}

function reboundNode(node: DeltaNode, path: string, made: Made, version: Version): DeltaNode {
  const record = node.from && made.get(node.from.path);
  const isOther = record?.kind === 'directory' && record.id !== node.from?.id;
  const from = isOther && node.from ? { ...node.from, id: record.id } : node.from;
  let names: Map<string, DeltaEntry> | undefined;
  for (const [name, entry] of node.names ?? NO_NAMES) {
    const next = reboundEntry(entry, `${path}/${name}`, made, version);
    if (next === entry) continue;
    names ??= new Map(node.names);
    names.set(name, next);
  }
  if (names === undefined && from === node.from) return node;
  return { ...node, ...(isOther && { version }), ...(from && { from }), ...(names && { names }) };
}
