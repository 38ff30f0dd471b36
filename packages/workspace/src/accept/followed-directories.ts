import { type CallOptions, joinPath, type NodeRecord, pathSegments, systemClock } from '@scratchfs/core';
import { keyOf, type Lower } from '../backend/lower.js';
import { type Base, type DeltaEntry, type DeltaNode, entryAt, type Head, NO_NAMES } from '../delta/delta-node.js';
import { Draft } from '../delta/draft.js';
import type { HeadChanges } from '../delta/head-changes.js';
import { stateOfRecord } from '../refresh/capture.js';
import type { DiskDirectory, MovedDirectories } from '../store/moved-directories.js';

/** Maximum number of moves of one directory that are followed. */
const MAX_STEPS = 1_000;

/** A moved directory of a head, with the lower path at which its files lie now. */
interface Followed {
  readonly path: string;
  readonly oldPath: string;
  readonly record: NodeRecord;
  readonly lowerPath: string;
}

/**
 * Returns a head in which moved directories show their files where accepts, also those of other attempts, have put
 * them. Returns the head itself if nothing changes.
 * @param isWanted tells which moved directories to look at; default: all
 */
export async function followedHead(
  head: Head,
  lower: Lower,
  moves: MovedDirectories,
  options: CallOptions = {},
  isWanted: (path: string) => boolean = () => true,
): Promise<Head> {
  const draft = new Draft(head, '');
  let isFollowed = false;
  for (const { path, from } of movedIn(head)) {
    if (!isWanted(path)) continue;
    let [at, record] = [from, await directoryAt(lower, from.path, options)];
    for (let step = 0; step < MAX_STEPS && record?.id !== at.id; step++) {
      const next = await moves.find(at, options);
      if (next === undefined) break;
      at = next;
      record = await directoryAt(lower, at.path, options);
    }
    if (at === from || record?.id !== at.id) continue;
    const followed = { path, oldPath: from.path, record, lowerPath: at.path } as Followed;
    draft.update(pathSegments(path), (entry) => followedEntry(entry, followed));
    isFollowed = true;
  }
  return isFollowed ? draft.head : head;
}

/**
 * Records in the store where an accept, its undo or its redo has moved directories on the disk.
 * @param changes changes of the accept; each directory is noted under the lower path that it was shown from
 * @param head head after them
 */
export async function noteMoves(
  changes: HeadChanges,
  head: Head,
  lower: Lower,
  moves: MovedDirectories,
): Promise<void> {
  const visit = async (path: string, entry: DeltaEntry | undefined): Promise<void> => {
    const from = entry?.node?.from;
    if (from?.isMoved === true) {
      const now = entryAt(head, pathSegments(path))?.node?.from;
      const at = now?.isMoved === true ? now.path : path;
      const record = await directoryAt(lower, at, {});
      if (record !== undefined && record.id !== from.id) await moves.note(from, { path: at, id: record.id });
    }
    for (const [name, child] of entry?.node?.names ?? NO_NAMES) await visit(joinPath(path, name), child);
  };
  for (const { path, before } of changes.entries) await visit(path, before);
}

interface MovedDirectory {
  readonly path: string;
  readonly from: DiskDirectory;
}

const known = new WeakMap<DeltaNode, readonly MovedDirectory[]>();

/** Returns the moved directories of a head, parents first. Directories that heads share are visited once. */
function movedIn(head: Head): readonly MovedDirectory[] {
  const visit = (directory: DeltaNode): readonly MovedDirectory[] => {
    let moved = known.get(directory);
    if (moved !== undefined) return moved;
    const found: MovedDirectory[] = [];
    for (const [name, { node }] of directory.names ?? NO_NAMES) {
      if (node?.kind !== 'directory') continue;
      if (node.from?.isMoved === true) found.push({ path: `/${name}`, from: node.from });
      for (const { path, from } of visit(node)) found.push({ path: `/${name}${path}`, from });
    }
    moved = found;
    known.set(directory, moved);
    return moved;
  };
  return visit(head.root);
}

async function directoryAt(lower: Lower, path: string, options: CallOptions): Promise<NodeRecord | undefined> {
  const record = await lower.record(path, options);
  return record?.kind === 'directory' ? record : undefined;
}

function followedEntry(entry: DeltaEntry, { path, oldPath, record, lowerPath }: Followed): DeltaEntry {
  const node = entry.node as DeltaNode;
  const isMoved = lowerPath !== path;
  const base: Base = { path, key: keyOf(record), state: stateOfRecord(record), at: systemClock() };
  return {
    ...entry,
    ...(!isMoved && { base }),
    node: {
      ...node,
      version: `${node.version}@${record.id}`,
      from: { path: lowerPath, id: record.id, meta: record.meta, ...(isMoved && { isMoved }) },
      names: followedNames(node.names ?? NO_NAMES, oldPath, lowerPath),
    },
  };
}

/** Returns the names of a directory with the lower paths of their bases under its new lower path. */
function followedNames(names: NonNullable<DeltaNode['names']>, from: string, to: string): Map<string, DeltaEntry> {
  const followed = new Map<string, DeltaEntry>();
  for (const [name, entry] of names) {
    const [old, now] = [joinPath(from, name), joinPath(to, name)];
    const { base, node } = entry;
    followed.set(name, {
      ...entry,
      ...(base?.path === old && { base: { ...base, path: now } }),
      ...(node?.kind === 'directory' &&
        node.from?.path === old && {
          node: { ...node, from: { ...node.from, path: now }, names: followedNames(node.names ?? NO_NAMES, old, now) },
        }),
    });
  }
  return followed;
}
