import { type CallOptions, joinPath, type NodeId, type NodeRecord, pathSegments, systemClock } from '@scratchfs/core';
import { keyOf, type Lower } from '../backend/lower.js';
import { type Base, type DeltaEntry, type DeltaNode, type Head, NO_NAMES } from '../delta/delta-node.js';
import { Draft } from '../delta/draft.js';
import { WorkspaceError } from '../errors.js';
import type { OperationLog } from '../log/operation-log.js';
import type { OperationRecord } from '../log/operation-record.js';
import { stateOfRecord } from '../refresh/capture.js';

/** Directory of the disk. Without an id whatever lies at the path. */
interface DiskDirectory {
  readonly path: string;
  readonly id?: NodeId | undefined;
}

/** A directory that an accept, or its undo, has moved on the disk. */
interface DirectoryMove {
  readonly from: DiskDirectory;
  readonly to: DiskDirectory;
}

/** A moved directory of a head, with the place where its files lie now. */
interface Followed {
  readonly path: string;
  readonly oldPath: string;
  readonly record: NodeRecord;
  readonly lowerPath: string;
}

/**
 * Returns the head after an operation, for the disk as it is now: a directory that the attempt had moved shows its files
 * where a later accept has put them.
 */
export async function headOnDisk(
  log: OperationLog,
  lower: Lower,
  id: number,
  version: string,
  options: CallOptions = {},
): Promise<Head> {
  const head = await log.headAt(id, options);
  const moved: { readonly path: string; readonly from: DiskDirectory }[] = [];
  const visit = (path: string, { names = NO_NAMES }: DeltaNode): void => {
    for (const [name, { node }] of names) {
      if (node?.kind !== 'directory') continue;
      const at = joinPath(path, name);
      if (node.from?.isMoved === true) moved.push({ path: at, from: node.from });
      visit(at, node);
    }
  };
  visit('/', head.root);
  if (moved.length === 0) return head;
  const moves: DirectoryMove[] = [];
  for (let next = id + 1; next <= log.state.last; next++) {
    // Of the operations after the beginning, old ones may no longer be kept.
    const record = await log.record(next, options).catch(ignoreNotFound);
    if (record !== undefined && (await movesOnDisk(log, record, options))) moves.push(...movesOf(record));
  }
  const draft = new Draft(head, version);
  for (const { path, from } of moved) {
    const now = moves.reduce(follow, from);
    if (now === from) continue;
    const [along] = await lower.paths([now.path], options);
    const record = along?.length === pathSegments(now.path).length + 1 ? along.at(-1) : undefined;
    if (record?.kind !== 'directory') continue;
    const followed = { path, oldPath: from.path, record, lowerPath: now.path };
    draft.update(pathSegments(path), (entry) => followedEntry(entry, followed, version));
  }
  return draft.head;
}

/** Reports whether an operation was an accept, or took one back. */
async function movesOnDisk(
  log: OperationLog,
  { operation, accept }: OperationRecord,
  options: CallOptions,
): Promise<boolean> {
  const { tool, target } = operation;
  if (accept !== undefined) return accept.as !== 'branch';
  if ((tool !== 'undo' && tool !== 'redo') || target === undefined) return false;
  const moved = (await log.record(target, options).catch(ignoreNotFound))?.accept;
  return moved !== undefined && moved.as !== 'branch';
}

function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof WorkspaceError && error.code === 'not-found')) throw error;
}

/** Returns the directories that showed at another path than their own, before or after an operation on the disk. */
function movesOf({ changes }: OperationRecord): DirectoryMove[] {
  const moves: DirectoryMove[] = [];
  const compare = (path: string, before: DeltaEntry | undefined, after: DeltaEntry | undefined): void => {
    const [a, b] = [before?.node?.from, after?.node?.from];
    if (a?.isMoved === true || b?.isMoved === true) moves.push({ from: a ?? { path }, to: b ?? { path } });
    const [from, to] = [before?.node?.names ?? NO_NAMES, after?.node?.names ?? NO_NAMES];
    for (const name of new Set([...from.keys(), ...to.keys()]))
      compare(joinPath(path, name), from.get(name), to.get(name));
  };
  for (const { path, before, after } of changes.entries) compare(path, before, after);
  return moves;
}

function follow(at: DiskDirectory, { from, to }: DirectoryMove): DiskDirectory {
  const isSame = at.path === from.path && (at.id === undefined || from.id === undefined || at.id === from.id);
  return isSame ? to : at;
}

function followedEntry(entry: DeltaEntry, { path, oldPath, record, lowerPath }: Followed, version: string): DeltaEntry {
  const node = entry.node as DeltaNode;
  const isMoved = lowerPath !== path;
  const base: Base = { path, key: keyOf(record), state: stateOfRecord(record), at: systemClock() };
  return {
    ...entry,
    ...(!isMoved && { base }),
    node: {
      ...node,
      version,
      from: { path: lowerPath, id: record.id, meta: record.meta, ...(isMoved && { isMoved }) },
      names: followedNames(node.names ?? NO_NAMES, oldPath, lowerPath),
    },
  };
}

/** Lets changes in a directory begin from where its files lie now. */
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
