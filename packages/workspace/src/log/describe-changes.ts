import { compareNames, isWithin, type NodeId, pathSegments, quote } from '@scratchfs/core';
import { type DeltaEntry, type DeltaNode, type Head, NO_NAMES, nodeOf, startOf, stateOf } from '../delta/delta-node.js';
import type { HeadChanges } from '../delta/head-changes.js';
import type { ChangeSide, OperationChange } from '../operation.js';

/** One side of a name: a changed entry, `disk` for a name that the attempt has not changed, null for a missing one. */
type Side = DeltaEntry | 'disk' | null;

/**
 * Returns the changes between two heads as the log shows them, one for each path, sorted.
 * @param isWritten true if the disk was written between the heads. Then the state from which a change began is not that
 * of the other head: a name without a change has `disk` there, and is not known to have moved
 */
export function describeChanges(changes: HeadChanges, before: Head, after: Head, isWritten = false): OperationChange[] {
  const found: OperationChange[] = [];
  const removed = new Map<NodeId, string>();
  const added = new Map<string, readonly (NodeId | undefined)[]>();

  const compare = (path: string, a: Side, b: Side, isShallow = false): void => {
    const [from, to] = [
      sideOf(before, a, isWritten ? null : b, after),
      b === 'disk' && !isWritten && isCreated(a) ? null : sideOf(after, b, null, after),
    ];
    if (!isSame(from, to)) {
      found.push({ path, before: from, after: to });
      const [was, is] = [idOf(before, a, isWritten ? null : b), idOf(after, b, isWritten ? null : a)];
      if (was !== undefined && was !== is) removed.set(was, path);
      if (is !== undefined && was !== is) added.set(path, [is, sourceOf(after, b)]);
    }
    if (isShallow) return;
    const [was, is] = [directoryOf(before, a), directoryOf(after, b)];
    for (const name of new Set([...(was?.names ?? NO_NAMES).keys(), ...(is?.names ?? NO_NAMES).keys()]))
      compare(path === '/' ? `/${name}` : `${path}/${name}`, childOf(from, a, was, name), childOf(to, b, is, name));
  };

  for (const change of changes.entries)
    compare(
      change.path,
      change.before ?? unchangedSide(before, change.path),
      change.after ?? unchangedSide(after, change.path),
      change.isShallow,
    );
  for (const { before: a, after: b } of changes.inodes) {
    if (a === undefined || b === undefined) continue;
    const path = pathOfLink(after, b.id);
    if (path === undefined || found.some((one) => one.path === path)) continue;
    const [from, to] = [stateOf(a), stateOf(b)];
    if (!isSame(from, to)) found.push({ path, before: from, after: to });
  }
  const moved = found.flatMap(({ path }) => {
    const from = added.get(path)?.map((id) => removed.get(id as NodeId));
    const found = from?.[0] ?? from?.[1];
    return found === undefined ? [] : [{ from: found, to: path }];
  });
  const byPath = new Map(found.map((change) => [change.path, change]));
  const isImplied = (from: string, to: string): boolean => {
    const [gone, here] = [byPath.get(from), byPath.get(to)];
    return gone !== undefined && here !== undefined && isSame(gone.before, here.after);
  };
  // An entry that moved along with a directory above it is not a change of its own.
  for (const { from, to } of moved) {
    const above = moved.find((one) => to.startsWith(`${one.to}/`) && from === one.from + to.slice(one.to.length));
    if (above === undefined || !isImplied(from, to)) continue;
    byPath.delete(from);
    byPath.delete(to);
  }
  const origins = new Map(moved.map(({ from, to }) => [to, from]));
  return [...byPath.values()]
    .map((change) => {
      const from = origins.get(change.path);
      return from === undefined ? change : { ...change, from };
    })
    .sort((a, b) => compareNames(a.path, b.path));
}

/** Returns a sentence about changes, for an operation without a summary. */
export function summarize(changes: readonly OperationChange[]): string {
  const [first] = changes;
  if (first === undefined) return 'Nothing changed';
  const moved = changes.find(({ from }) => from !== undefined);
  const gone = changes.filter(({ path, after }) => after === null && path !== moved?.from);
  // Changes in a removed directory went with it, and the log does not know what else was there.
  const isTop = gone.length === changes.length && changes.every(({ path }) => isWithin(path, first.path));
  if (isTop) return `Remove ${quote(first.path)}`;
  if (moved !== undefined && changes.length === 2) return `Move ${quote(moved.from as string)} to ${quote(moved.path)}`;
  if (changes.length > 1)
    return `Change ${changes.length} paths${gone.length > 0 ? `, of which ${gone.length} removed` : ''}`;
  return `${first.before === null ? 'Create' : 'Change'} ${quote(first.path)}`;
}

function isLive(node: DeltaNode | null): boolean {
  return node !== null && node.kind === 'directory' && node.meta === undefined && node.from?.isMoved !== true;
}

/** @param other the later side of the name, in the head `after`; null if `side` is that one */
function sideOf(head: Head, side: Side, other: Side, after: Head): ChangeSide {
  if (side === null) return null;
  if (side === 'disk') {
    // The state that the disk had when the attempt changed the name says more than `disk`.
    const changed = other !== null && other !== 'disk' ? other : undefined;
    const start = changed && startOf(changed, nodeOf(after, changed) ?? null);
    return start === undefined || isLive(changed?.node ?? null) ? 'disk' : start.state;
  }
  const node = nodeOf(head, side);
  if (node === undefined) return null;
  return isLive(node) ? 'disk' : stateOf(node);
}

/** Returns the side of a name without an entry: nothing exists in a directory that the attempt has created. */
function unchangedSide(head: Head, path: string): Side {
  let directory: DeltaNode = head.root;
  for (const name of pathSegments(path)) {
    const entry = directory.names?.get(name);
    const node = entry && nodeOf(head, entry);
    if (node === undefined) return entry === undefined && directory.from !== undefined ? 'disk' : null;
    directory = node;
  }
  return 'disk';
}

/** Reports whether an attempt has created a name, so that nothing exists there without its change. */
function isCreated(side: Side): boolean {
  return side !== null && side !== 'disk' && side.base?.state === null;
}

function isSame(a: ChangeSide, b: ChangeSide): boolean {
  if (a === b) return true;
  if (a === null || b === null || a === 'disk' || b === 'disk') return false;
  return a.kind === b.kind && a.mode === b.mode && a.size === b.size && a.hash === b.hash && a.target === b.target;
}

function idOf(head: Head, side: Side, other: Side): NodeId | undefined {
  if (side === null) return undefined;
  if (side !== 'disk') return nodeOf(head, side)?.id;
  const key = other !== null && other !== 'disk' ? other.base?.key : undefined;
  return key === undefined ? undefined : (String(key).split(' ')[0] as string);
}

/** Returns the id of the lower directory that a moved one shows, which may be another one than its own. */
function sourceOf(head: Head, side: Side): NodeId | undefined {
  const from = directoryOf(head, side)?.from;
  return from?.isMoved === true ? from.id : undefined;
}

function directoryOf(head: Head, side: Side): DeltaNode | undefined {
  const node = side === null || side === 'disk' ? undefined : nodeOf(head, side);
  return node?.kind === 'directory' ? node : undefined;
}

function childOf(shown: ChangeSide, side: Side, directory: DeltaNode | undefined, name: string): Side {
  if (shown === null) return null;
  if (side === 'disk') return 'disk';
  return directory?.names?.get(name) ?? (directory?.from === undefined ? null : 'disk');
}

function pathOfLink(head: Head, id: NodeId): string | undefined {
  const find = (path: string, node: DeltaNode): string | undefined => {
    for (const [name, entry] of node.names ?? NO_NAMES) {
      const found = entry.link === id ? `${path}/${name}` : entry.node && find(`${path}/${name}`, entry.node);
      if (found) return found;
    }
    return undefined;
  };
  return find('', head.root);
}
