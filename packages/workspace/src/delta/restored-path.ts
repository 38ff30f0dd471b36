import { isWithin, joinPath, type NodeId, pathSegments, quote, type Version } from '@scratchfs/core';
import { WorkspaceError } from '../errors.js';
import {
  type DeltaEntry,
  type DeltaNode,
  entryAt,
  type Head,
  isBaseOf,
  NO_NAMES,
  nodeOf,
  visitNames,
} from './delta-node.js';
import { Draft } from './draft.js';
import { raiseLinks } from './links.js';

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
  raiseLinks(draft, version);
  return draft.head;
}

/**
 * Returns the path to restore for a path: itself, or the directory on the way to it that `head` has removed, if
 * `wanted` shows a directory of the disk there.
 * @throws WorkspaceError `refused` if `head` has another kind of entry in its place, which would be lost
 */
export function restorablePath(head: Head, wanted: Head, path: string): string {
  const names = pathSegments(path);
  for (let depth = 1; depth < names.length; depth++) {
    const above = names.slice(0, depth);
    const [now, then] = [entryAt(head, above), entryAt(wanted, above)];
    if (now === undefined) break;
    if (now.node?.kind === 'directory') continue;
    if (then !== undefined && then.node?.from === undefined) return path;
    const directory = `/${above.join('/')}`;
    if (nodeOf(head, now) === undefined) return directory;
    const hint = `Restore ${quote(directory)} to take that directory instead, or move the attempt's entry away first`;
    throw new WorkspaceError(
      'refused',
      `Nothing was restored, because ${quote(directory)} on the way to ${quote(path)} is no directory in the attempt. ${hint}.`,
    );
  }
  return path;
}

/**
 * Returns the paths to restore together with a path, so that the attempt still shows what it has moved to it or under
 * it: the old names, or removed directories above them.
 * @param disk head without changes
 * @throws WorkspaceError `refused` if the attempt has another entry at the old name of what it moved, and one of the
 *   two is a directory; also as in {@link restorablePath}
 */
export function oldNamesUnder(head: Head, disk: Head, path: string): string[] {
  const moved = new Map<string, DeltaNode>();
  const collect = (entry: DeltaEntry | undefined): void => {
    const node = entry && nodeOf(head, entry);
    if (node?.origin !== undefined) moved.set(node.origin.path, node);
    for (const one of node?.names?.values() ?? []) collect(one);
  };
  collect(entryAt(head, pathSegments(path)));
  if (moved.size === 0) return [];
  const found: string[] = [];
  const visit = (above: string, { names = NO_NAMES }: DeltaNode): void => {
    for (const [name, entry] of names) {
      const at = joinPath(above, name);
      if (isWithin(at, path)) continue;
      const node = nodeOf(head, entry);
      const old = moved.get(entry.base?.path ?? '');
      if (old !== undefined) {
        moved.delete(entry.base?.path as string);
        if (node === undefined) found.push(at);
        else if (isDirectory(old) || isDirectory(node)) throw takenAnew(at, path);
      }
      if (node !== undefined) visit(at, node);
    }
  };
  visit('/', head.root);
  // The old names that are left are shown already, are under `path`, or are in a removed directory.
  for (const old of moved.keys()) {
    const above = restorablePath(head, disk, old);
    if (above !== old && entryAt(head, pathSegments(above))?.isMoved !== true) found.push(above);
  }
  return [...new Set(found)];
}

function isDirectory({ kind }: DeltaNode): boolean {
  return kind === 'directory';
}

function takenAnew(old: string, path: string): WorkspaceError {
  return new WorkspaceError(
    'refused',
    `Nothing was restored, because what the attempt has moved to ${quote(path)} would go back to ${quote(old)}, where it has another entry. Move that away, or restore it first.`,
  );
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
  if (then !== undefined) restoreNames(draft, wanted, id);
  if (then !== undefined || now === undefined || !isLeft) return;
  // Other names lead to it, so it stays, with what it had when the attempt began to change it.
  const state = someEntry(head, ({ base }) => isBaseOf(base, id))?.base?.state ?? now.began?.state;
  if (state?.hash === undefined) return;
  const meta = now.meta && { ...now.meta, mode: state.mode };
  draft.setInode(id, { ...now, version, meta, content: { hash: state.hash, size: state.size } });
}

/**
 * Lets each name of a file with several names begin again from the state that its content in another head began from, so
 * that a refresh merges what the person has changed since.
 */
function restoreNames(draft: Draft, wanted: Head, id: NodeId): void {
  visitNames(draft.head, (path, { link }) => {
    if (link !== id) return;
    const names = pathSegments(path);
    const then = entryAt(wanted, names);
    if (then?.link === id) draft.setEntry(names, then);
  });
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
