import { type NodeId, pathSegments, type Version } from '@scratchfs/core';
import { type Base, type DeltaEntry, type DeltaNode, entryAt, type Head, NO_NAMES, nodeOf } from './delta-node.js';
import { Draft } from './draft.js';

/**
 * Returns a head with one path as another head has it. Directories above it that only the other head has are added
 * without their other names. A file with several names is one file: it is restored under all names that it has now.
 * @param shownId id of the node that `wanted` shows at the path, maybe a file of the disk
 */
export function restoredPath(
  head: Head,
  wanted: Head,
  path: string,
  version: Version,
  shownId: NodeId | undefined,
): Head {
  const names = pathSegments(path);
  const [old, entry] = [entryAt(head, names), entryAt(wanted, names)];
  const draft = new Draft(head, version);
  if (entry !== old) {
    for (let depth = 1; depth < names.length; depth++) {
      const above = names.slice(0, depth);
      if (entryAt(draft.current, above)?.node?.kind === 'directory') continue;
      const shell = entryAt(wanted, above);
      // The other head shows the disk at the path, or nothing.
      if (shell?.node?.kind !== 'directory') return head;
      draft.setEntry(above, { ...shell, node: { ...shell.node, names: NO_NAMES } });
    }
    draft.setEntry(names, entry);
  }
  for (const id of sharedFiles(old, entry, shownId)) restoreFile(draft, head, wanted, id, version);
  return draft.head;
}

/**
 * Returns the path to restore for a path: itself, or the directory on the way to it that `head` has removed or replaced
 * by another kind of entry, if `wanted` shows that of the disk.
 */
export function restorablePath(head: Head, wanted: Head, path: string): string {
  const names = pathSegments(path);
  for (let depth = 1; depth < names.length; depth++) {
    const above = names.slice(0, depth);
    const [now, then] = [entryAt(head, above), entryAt(wanted, above)];
    if (now === undefined) break;
    if (now.node?.kind === 'directory') continue;
    return then === undefined || then.node?.from !== undefined ? `/${above.join('/')}` : path;
  }
  return path;
}

/** Returns the old names of what a head has moved to a path or to paths under it. */
export function oldNamesUnder(head: Head, path: string): string[] {
  const found: string[] = [];
  const visit = (entry: DeltaEntry | undefined): void => {
    const node = entry && nodeOf(head, entry);
    const old = node?.origin?.path;
    if (old !== undefined && entryAt(head, pathSegments(old))?.isMoved === true) found.push(old);
    for (const one of node?.names?.values() ?? []) visit(one);
  };
  visit(entryAt(head, pathSegments(path)));
  return found;
}

/**
 * Returns the files to restore under all names: those that `then` has at and under a path, or that the disk shows
 * there.
 */
function sharedFiles(
  now: DeltaEntry | undefined,
  then: DeltaEntry | undefined,
  shownId: NodeId | undefined,
): Set<NodeId> {
  const ids = new Set<NodeId>();
  const visit = (a: DeltaEntry | undefined, b: DeltaEntry | undefined): void => {
    if (b?.link !== undefined) ids.add(b.link);
    if (b === undefined && a?.link !== undefined && isBaseOf(a.base, a.link)) ids.add(a.link);
    const [from, to] = [a?.node?.names ?? NO_NAMES, b?.node?.names ?? NO_NAMES];
    for (const name of new Set([...from.keys(), ...to.keys()])) visit(from.get(name), to.get(name));
  };
  visit(now, then);
  if (then === undefined && shownId !== undefined) ids.add(shownId);
  return ids;
}

/**
 * Gives a file with several names the state that it has in another head, or had when the attempt began to change it.
 */
function restoreFile(draft: Draft, head: Head, wanted: Head, id: NodeId, version: Version): void {
  const [now, then] = [head.inodes.get(id), wanted.inodes.get(id)];
  const isLeft = someEntry(draft.current, ({ link }) => link === id) !== undefined;
  if (then !== undefined || (now !== undefined && !isLeft)) draft.setInode(id, then);
  if (then !== undefined || now === undefined || !isLeft) return;
  // Other names lead to it, so it stays, with what it had when the attempt began to change it.
  const state = someEntry(head, ({ base }) => isBaseOf(base, id))?.base?.state ?? now.began?.state;
  if (state?.hash === undefined) return;
  const meta = now.meta && { ...now.meta, mode: state.mode };
  draft.setInode(id, { ...now, version, meta, content: { hash: state.hash, size: state.size } });
}

/** Returns a changed name for which a test holds; undefined if there is none. */
function someEntry(head: Head, test: (entry: DeltaEntry) => boolean): DeltaEntry | undefined {
  const visit = ({ names = NO_NAMES }: DeltaNode): DeltaEntry | undefined => {
    for (const entry of names.values()) {
      const found = test(entry) ? entry : entry.node && visit(entry.node);
      if (found) return found;
    }
    return undefined;
  };
  return visit(head.root);
}

/** Reports whether a change began from the file of the disk that has an id. */
function isBaseOf(base: Base | undefined, id: NodeId): boolean {
  return String(base?.key).startsWith(`${id} `);
}
