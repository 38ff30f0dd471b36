import { pathSegments, type Version } from '@scratchfs/core';
import type { EntryState } from '../operation.js';
import {
  type DeltaConflict,
  type DeltaEntry,
  entryAt,
  type Head,
  isSameState,
  NO_NAMES,
  nodeOf,
  visitNames,
} from './delta-node.js';
import { Draft } from './draft.js';

/**
 * Ends conflicts in favour of what an attempt has: its changes then begin from what the disk had when the conflict was
 * found. If the disk has changed again since, the next comparison notices that. A conflict that cannot be settled
 * stays, such as one with a directory that the change did not begin from.
 * @param before head with the conflicts
 * @param after head to change: the same one, or the one after writes to the paths
 */
export function settledHead(before: Head, after: Head, paths: Iterable<string>, version: Version): Head {
  const draft = new Draft(after, version);
  for (const path of paths) {
    const old = entryAt(before, pathSegments(path));
    if (old?.conflict === undefined || !canSettle(old)) continue;
    const now = entryAt(after, pathSegments(path));
    // The removal of one name of a file says nothing about its other names.
    if (old.link !== undefined && (now === undefined || nodeOf(after, now) === undefined)) continue;
    const names = old.link === undefined ? [path] : namesOf(before, old);
    for (const name of names) {
      const [began, entry] = [entryAt(before, pathSegments(name)), entryAt(draft.current, pathSegments(name))];
      if (began !== undefined && entry !== undefined) draft.setEntry(pathSegments(name), settled(began, entry), true);
    }
    if (old.conflict.isOrigin === true) settleOldName(draft, old.conflict, old.node?.origin?.path as string);
  }
  return draft.head;
}

/**
 * Returns a head in which removed directories hide more entries of the disk, because conflicts about their removal were
 * settled.
 */
export function headWithHidden(
  head: Head,
  entries: readonly { readonly directory: string; readonly key: Version }[],
  version: Version,
): Head {
  const draft = new Draft(head, version);
  for (const { directory, key } of entries) {
    draft.update(pathSegments(directory), ({ base, ...entry }) => ({
      ...entry,
      base: base && { ...base, known: [...(base.known ?? []), key] },
    }));
  }
  return draft.head;
}

/**
 * Reports whether a caller knows what the disk has at a path in conflict.
 * @param told the disk's state at each path of a conflict that the caller was told of
 */
export function isTold(
  path: string,
  { disk }: Pick<DeltaConflict, 'disk'>,
  told: ReadonlyMap<string, EntryState | null>,
): boolean {
  const seen = told.get(path);
  return seen !== undefined && isSameState(seen, disk);
}

/** A path in conflict. */
interface FoundConflict {
  readonly path: string;
  readonly disk: EntryState | null;
  readonly canSettle: boolean;
}

/** Returns the conflicts at a path and under it. */
export function conflictsUnder(head: Head, path: string): FoundConflict[] {
  const found: FoundConflict[] = [];
  const visit = (at: string, entry: DeltaEntry): void => {
    if (entry.conflict !== undefined) found.push({ path: at, disk: entry.conflict.disk, canSettle: canSettle(entry) });
    for (const [name, inside] of entry.node?.names ?? NO_NAMES) visit(`${at === '/' ? '' : at}/${name}`, inside);
  };
  const entry = path === '/' ? { node: head.root } : entryAt(head, pathSegments(path));
  if (entry !== undefined) visit(path, entry);
  return found;
}

/** Returns all names of a file with several names that have the same conflict. */
function namesOf(head: Head, { link, conflict }: DeltaEntry): string[] {
  const paths: string[] = [];
  visitNames(head, (path, entry) => {
    if (entry.link === link && entry.conflict?.key === conflict?.key) paths.push(path);
  });
  return paths;
}

function canSettle({ conflict, base, node, link }: DeltaEntry): boolean {
  if (conflict?.isOrigin === true)
    return (conflict.disk?.kind ?? 'file') === 'file' && node !== null && link === undefined;
  return conflict?.disk?.kind !== 'directory' || base?.state?.kind === 'directory';
}

/** Lets the removal of a moved file's old path begin from the same state of the disk. */
function settleOldName(draft: Draft, { key, disk: state, at }: DeltaConflict, path: string): void {
  const entry = entryAt(draft.current, pathSegments(path));
  if (entry?.isMoved !== true || entry.base?.path !== path) return;
  const { earlier: _, ...rest } = entry;
  draft.setEntry(pathSegments(path), { ...rest, base: { ...entry.base, key, state, at } }, true);
}

function settled({ conflict, base: old }: DeltaEntry, entry: DeltaEntry): DeltaEntry {
  const { conflict: _, earlier: __, ...rest } = entry;
  if (conflict === undefined || old === undefined) return entry;
  const { key, disk: state, at } = conflict;
  if (conflict.isOrigin !== true) return { ...rest, base: { ...old, key, state, at } };
  const { node } = entry;
  // The moved file may have been removed, or have made way for another one.
  if (node?.origin === undefined) return rest;
  return { ...rest, node: { ...node, origin: { ...node.origin, key, state, at } } };
}
