import { compareNames, type NodeId, pathSegments, type Version } from '@scratchfs/core';
import { dropDangling } from './dangling.js';
import {
  type DeltaEntry,
  type DeltaNode,
  entryAt,
  type Head,
  isSameName,
  isSameNode,
  NO_NAMES,
  visitNames,
} from './delta-node.js';
import { Draft } from './draft.js';
import { raiseLinks } from './links.js';

/** Change of one name. A side is undefined if that head has no entry for the name. */
export interface EntryChange {
  readonly path: string;
  readonly before: DeltaEntry | undefined;
  readonly after: DeltaEntry | undefined;
  /** True for a directory that stays: the sides are without its names, whose changes follow. */
  readonly isShallow?: boolean | undefined;
}

/** Change of a file with several names. */
export interface InodeChange {
  readonly id: NodeId;
  readonly before: DeltaNode | undefined;
  readonly after: DeltaNode | undefined;
}

export interface HeadChanges {
  /** Parents first, siblings by UTF-8 bytes; then those that {@link withUnchangedNames} adds. */
  readonly entries: readonly EntryChange[];
  readonly inodes: readonly InodeChange[];
}

/** Returns the changes that lead from one head to another. Skips what they share. */
export function changesBetween(before: Head, after: Head): HeadChanges {
  const entries: EntryChange[] = [];
  compareEntries('', { node: before.root }, { node: after.root }, entries);
  const inodes: InodeChange[] = [];
  if (before.inodes !== after.inodes) {
    for (const id of new Set([...before.inodes.keys(), ...after.inodes.keys()])) {
      const [a, b] = [before.inodes.get(id), after.inodes.get(id)];
      if (!isSameNode(a ?? null, b ?? null)) inodes.push({ id, before: a, after: b });
    }
  }
  return { entries, inodes };
}

function compareEntries(
  path: string,
  before: DeltaEntry | undefined,
  after: DeltaEntry | undefined,
  changes: EntryChange[],
): void {
  if (before === after) return;
  const [a, b] = [before?.node ?? null, after?.node ?? null];
  const isKept = a !== null && b !== null && a.kind === 'directory' && a.id === b.id && b.kind === 'directory';
  if (!isKept || before === undefined || after === undefined) {
    if (before !== undefined && after !== undefined && isSameNode(a, b) && isSameName(before, after)) return;
    changes.push({ path: path === '' ? '/' : path, before, after });
    return;
  }
  if (!isSameNode(a, b) || !isSameName(before, after))
    changes.push({
      path: path === '' ? '/' : path,
      before: withoutNames(before),
      after: withoutNames(after),
      isShallow: true,
    });
  if (a.names === b.names) return;
  const [from, to] = [a.names ?? NO_NAMES, b.names ?? NO_NAMES];
  const changed: string[] = [];
  for (const [name, entry] of from) if (to.get(name) !== entry) changed.push(name);
  for (const name of to.keys()) if (!from.has(name)) changed.push(name);
  for (const name of changed.sort(compareNames))
    compareEntries(`${path}/${name}`, from.get(name), to.get(name), changes);
}

function withoutNames({ node, ...entry }: DeltaEntry): DeltaEntry {
  if (node === null) return { node, ...entry };
  const { names: _, listing: __, ...own } = node;
  return { ...entry, node: own };
}

/**
 * Adds the unchanged names of changed files with several names, each with the same entry on both sides. A later refresh
 * may let such a name begin from another state of the disk, or make it a file of its own. An undo or redo then restores
 * the entry that belongs to the restored content.
 */
export function withUnchangedNames({ entries, inodes }: HeadChanges, before: Head, after: Head): HeadChanges {
  const ids = new Set(inodes.map(({ id }) => id));
  const found: EntryChange[] = [];
  if (ids.size === 0) return { entries, inodes };
  visitNames(after, (path, entry) => {
    const isLinked = entry.link !== undefined && ids.has(entry.link);
    if (isLinked && entryAt(before, pathSegments(path)) === entry) found.push({ path, before: entry, after: entry });
  });
  return { entries: [...entries, ...found], inodes };
}

export function inverse({ entries, inodes }: HeadChanges): HeadChanges {
  return {
    entries: entries.map((change) => ({ ...change, before: change.after, after: change.before })),
    inodes: inodes.map(({ id, before, after }) => ({ id, before: after, after: before })),
  };
}

/** Returns the head that changes lead to. @param version version of directories whose names change */
export function applyChanges(head: Head, { entries, inodes }: HeadChanges, version: Version): Head {
  const draft = new Draft(head, version);
  for (const { id, after } of inodes) draft.setInode(id, after);
  for (const { path, after, isShallow } of entries) {
    const names = pathSegments(path);
    if (isShallow !== true) {
      draft.setEntry(names, after);
      continue;
    }
    draft.update(names, (entry) => ({
      ...after,
      node: {
        ...(after?.node as DeltaNode),
        ...(entry.node?.names !== undefined && { names: entry.node.names, listing: entry.node.listing }),
      },
    }));
  }
  dropDangling(draft, new Set(inodes.filter(({ after }) => after === undefined).map(({ id }) => id)));
  if (inodes.length > 0) raiseLinks(draft, version);
  return draft.head;
}
