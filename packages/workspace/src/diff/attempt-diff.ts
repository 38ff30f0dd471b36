import type { CallOptions, NodeRecord } from '@scratchfs/core';
import { compareNames, joinPath, pathSegments } from '@scratchfs/core';
import { type AcceptContents, type RemovedEntry, removedEntries } from '../accept/attempt-changes.js';
import type { PathDiff } from '../attempt-types.js';
import { keyOf, type Lower } from '../backend/lower.js';
import { View } from '../backend/view.js';
import { type Base, type DeltaNode, entryAt, type Head, isSameState, NO_NAMES, nodeOf } from '../delta/delta-node.js';
import { changesBetween } from '../delta/head-changes.js';
import { type Contents, hashOf } from '../log/contents.js';
import { describeChanges } from '../log/describe-changes.js';
import type { ChangeSide, EntryState, OperationChange } from '../operation.js';
import { stateOfRecord } from '../refresh/capture.js';
import type { ReadOnlyPaths } from '../visibility/visible-backend.js';
import { filesIn } from './path-diffs.js';

export interface DiffSides {
  readonly lower: Lower;
  readonly contents: Contents;
  /** Undefined for the disk. */
  readonly before: Head | undefined;
  readonly after: Head;
  /** True if an accept, or the undo or redo of one, came between the heads. */
  readonly isWritten: boolean;
  /** Directories that an accept leaves alone. */
  readonly readOnly: ReadOnlyPaths;
  /** Receives the lower paths of the contents of removed files. */
  readonly texts: AcceptContents;
}

/** Returns the paths in which two heads, or a head and the disk, differ, sorted. */
export async function attemptDiff(
  { lower, contents, before, after, isWritten, readOnly, texts }: DiffSides,
  options: CallOptions,
): Promise<PathDiff[]> {
  const untouched: Head = { root: { ...after.root, version: 'disk', names: NO_NAMES }, inodes: new Map() };
  const from = before ?? untouched;
  const all = describeChanges(changesBetween(from, after), from, after, isWritten);
  // As in an accept, a moved file is compared with what it was at its old path.
  const moves = before === undefined ? movedFiles(after, all) : new Map<string, Base>();
  // With other files, an accept does not take the removal of their old path along, so they do not count as moved.
  const described = before === undefined ? all.map((one) => (isFile(one) ? { ...one, from: undefined } : one)) : all;
  const disk = new View(untouched, lower, contents);
  const lowerPathOf = ({ path, from: old }: OperationChange): string => (before === undefined ? (old ?? path) : path);
  const records = await disk.records(described.map(lowerPathOf), options);
  const diffs: PathDiff[] = [];
  const byPath = new Map(described.map((change, i) => [change.path, { change, record: records[i] ?? null }]));
  const origins = described.flatMap(({ from: old }) => old ?? []);
  const oldPaths = new Set([...[...moves.values()].map(({ path }) => path), ...origins]);
  for (const [i, change] of described.entries()) {
    const record = records[i] ?? null;
    const move = moves.get(change.path);
    if (move !== undefined) {
      const now = change.after as EntryState;
      diffs.push({ ...NO_TEXT, path: change.path, type: 'moved', from: move.path, before: move.state, after: now });
      continue;
    }
    const side = async (
      side: ChangeSide,
      one: OperationChange,
      shown: NodeRecord | null,
    ): Promise<EntryState | null> => {
      if (side !== 'disk') return side;
      const base = baseOf(after, one.path) ?? baseOf(from, one.path);
      return diskState(shown, lowerPathOf(one), base, lower, options);
    };
    const here = async (one: ChangeSide): Promise<EntryState | null> => side(one, change, record);
    const old = before !== undefined && change.from !== undefined ? byPath.get(change.from) : undefined;
    const a =
      old !== undefined
        ? await side(old.change.before, old.change, old.record)
        : await here(before === undefined && change.from === undefined ? 'disk' : change.before);
    const b = await here(change.after);
    if (b === null && oldPaths.has(change.path)) continue;
    if (isSameState(a, b) && change.from === undefined) continue;
    const type = change.from !== undefined ? 'moved' : a === null ? 'added' : b === null ? 'removed' : 'changed';
    diffs.push({
      path: change.path,
      type,
      ...(change.from !== undefined && { from: change.from }),
      before: a,
      after: b,
      ...NO_TEXT,
    });
  }
  const entries =
    before === undefined
      ? await removedEntries(after, texts, readOnly, options)
      : await entriesOf(
          new View(before, lower, contents),
          diffs.filter(({ type, before: old }) => type === 'removed' && old?.kind === 'directory'),
          readOnly,
          options,
        );
  const view = new View(from, lower, contents);
  // A moved directory is not a removed one: its old path is part of the move.
  const removed = entries.filter(({ path }) => !oldPaths.has(path));
  return withRemoved(diffs, removed, { view, texts, options });
}

/** Maximum number of entries in removed directories that are listed, and of the bytes of their files. */
const MAX_ENTRIES = 2_000;
const MAX_BYTES = 16 << 20;

/**
 * Adds what is in removed directories, unless that exceeds a maximum, and to each of these directories the number of
 * its files and links.
 */
async function withRemoved(
  diffs: readonly PathDiff[],
  entries: readonly RemovedEntry[],
  { view, texts, options }: { readonly view: View; readonly texts: AcceptContents; readonly options: CallOptions },
): Promise<PathDiff[]> {
  const held = entries.filter(({ record }) => record.kind !== 'directory');
  const counts = filesIn(held);
  const bytes = held.reduce((sum, { record }) => sum + record.size, 0);
  const isListed = entries.length <= MAX_ENTRIES && bytes <= MAX_BYTES;
  const all = new Map(diffs.map((diff) => [diff.path, diff]));
  for (const { path, record } of isListed ? entries : []) {
    if (all.has(path)) continue;
    const before = await removedState(path, record, view, texts, options);
    all.set(path, { ...NO_TEXT, path, type: 'removed', before, after: null });
  }
  return [...all.values()]
    .map((diff) =>
      diff.type === 'removed' && diff.before?.kind === 'directory'
        ? { ...diff, files: counts.get(diff.path) ?? 0 }
        : diff,
    )
    .sort((a, b) => compareNames(a.path, b.path));
}

async function removedState(
  path: string,
  record: NodeRecord,
  view: View,
  texts: AcceptContents,
  options: CallOptions,
): Promise<EntryState> {
  if (record.kind !== 'file') return stateOfRecord(record);
  const result = await view.load({ kind: 'path', path, content: MAX_BYTES }, options);
  const content = result.kind === 'path' ? result.content : undefined;
  if (content === undefined) return stateOfRecord(record);
  const hash = hashOf(content);
  const lowerPath = view.lowerPathOf(path);
  if (lowerPath !== undefined) texts.note(hash, lowerPath);
  return stateOfRecord(record, { hash, size: content.length });
}

/** Lists what removed directories held, except ignored directories. */
async function entriesOf(
  view: View,
  directories: readonly PathDiff[],
  readOnly: ReadOnlyPaths,
  options: CallOptions,
): Promise<RemovedEntry[]> {
  const found = new Map<string, RemovedEntry>();
  // The loop also visits what it adds, and each directory once.
  const pending = new Set(directories.map(({ path }) => path));
  for (const path of pending) {
    const [record] = await view.records([path], options);
    if (record?.kind !== 'directory') continue;
    const at = { path, id: record.id };
    const list = await view.load({ kind: 'list', at, after: undefined, limit: Number.MAX_SAFE_INTEGER }, options);
    if (list.kind !== 'list') continue;
    for (const [i, name] of list.names.entries()) {
      const [inside, one] = [joinPath(path, name), list.nodes[i] as NodeRecord];
      const isDirectory = one.kind === 'directory';
      if ((await readOnly.ignoredOn(view.lowerPathOf(inside) ?? inside, async () => isDirectory)) !== undefined)
        continue;
      found.set(inside, { path: inside, record: one });
      if (isDirectory) pending.add(inside);
    }
  }
  return [...found.values()];
}

const NO_TEXT = { binary: false, additions: 0, deletions: 0, hunks: [] } as const;

/**
 * Returns the base at the old path of each file that an attempt has moved, by new path, if the old path is free now.
 */
function movedFiles(head: Head, changes: readonly OperationChange[]): Map<string, Base> {
  const moves = new Map<string, Base>();
  for (const change of changes) {
    if (!isFile(change)) continue;
    const { path } = change;
    const entry = entryAt(head, pathSegments(path));
    const origin = entry && nodeOf(head, entry)?.origin;
    if (origin === undefined || origin.path === path) continue;
    // Of a file with several names, one that the disk has had before was not moved.
    if (entry?.link !== undefined && entry.base?.state) continue;
    const old = entryAt(head, pathSegments(origin.path));
    if (old?.node === null && old.link === undefined && old.base?.state) moves.set(path, old.base);
  }
  return moves;
}

function isFile({ after }: OperationChange): boolean {
  return after !== null && after !== 'disk' && after.kind !== 'directory';
}

function baseOf(head: Head, path: string): DeltaNode['origin'] {
  return path === '/' ? undefined : entryAt(head, pathSegments(path))?.base;
}

/** @param path lower path of the record */
async function diskState(
  record: NodeRecord | null,
  path: string,
  base: DeltaNode['origin'],
  lower: Lower,
  options: CallOptions,
): Promise<EntryState | null> {
  if (record === null) return null;
  const { kind, meta, target } = record;
  if (kind === 'directory') return { kind, mode: meta.mode, size: 0 };
  if (kind === 'symlink') return { kind, mode: meta.mode, size: record.size, target };
  if (base?.state && base.key === keyOf(record)) return base.state;
  const [result] = await lower.load([{ kind: 'path', path, content: Number.MAX_SAFE_INTEGER }], options);
  const bytes = result?.kind === 'path' ? result.content : undefined;
  if (bytes === undefined) return { kind, mode: meta.mode, size: record.size };
  return { kind, mode: meta.mode, size: bytes.length, hash: hashOf(bytes) };
}
