import { createHash } from 'node:crypto';
import type { CallOptions, NodeRecord } from '@scratchfs/core';
import { compareNames, pathSegments } from '@scratchfs/core';
import type { PathDiff } from '../attempt-types.js';
import { keyOf, type Lower } from '../backend/lower.js';
import { View } from '../backend/view.js';
import { type Base, type DeltaNode, entryAt, type Head, NO_NAMES, nodeOf } from '../delta/delta-node.js';
import { changesBetween } from '../delta/head-changes.js';
import type { Contents } from '../log/contents.js';
import { describeChanges } from '../log/describe-changes.js';
import type { ChangeSide, EntryState, OperationChange } from '../operation.js';

export interface DiffSides {
  readonly lower: Lower;
  readonly contents: Contents;
  /** Undefined for the disk. */
  readonly before: Head | undefined;
  readonly after: Head;
}

/** Returns the paths in which two heads, or a head and the disk, differ, sorted. */
export async function attemptDiff(
  { lower, contents, before, after }: DiffSides,
  options: CallOptions,
): Promise<PathDiff[]> {
  const untouched: Head = { root: { ...after.root, version: 'disk', names: NO_NAMES }, inodes: new Map() };
  const from = before ?? untouched;
  const described = describeChanges(changesBetween(from, after), from, after);
  const disk = new View(untouched, lower, contents);
  const records = await disk.records(
    described.map(({ path, from: old }) => old ?? path),
    options,
  );
  const diffs: PathDiff[] = [];
  // As in an accept, a moved file is compared with what it was at its old path.
  const moves = before === undefined ? movedFiles(after, described) : new Map<string, Base>();
  const oldPaths = new Set([...moves.values()].map(({ path }) => path));
  for (const [i, change] of described.entries()) {
    const record = records[i] ?? null;
    const move = moves.get(change.path);
    if (move !== undefined) {
      const now = change.after as EntryState;
      diffs.push({ ...NO_TEXT, path: change.path, type: 'moved', from: move.path, before: move.state, after: now });
      continue;
    }
    if (oldPaths.has(change.path) && change.after === null) continue;
    const known = baseOf(after, change.path) ?? baseOf(from, change.path);
    const side = async (side: ChangeSide): Promise<EntryState | null> =>
      side === 'disk' ? diskState(record, change.path, known, lower, options) : side;
    const a = before === undefined && change.from === undefined ? await side('disk') : await side(change.before);
    const b = await side(change.after);
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
  return diffs.sort((a, b) => compareNames(a.path, b.path));
}

const NO_TEXT = { binary: false, additions: 0, deletions: 0, hunks: [] } as const;

/**
 * Returns the base at the old path of each file that an attempt has moved, by new path, if the old path is free now.
 */
function movedFiles(head: Head, changes: readonly OperationChange[]): Map<string, Base> {
  const moves = new Map<string, Base>();
  for (const { path, after } of changes) {
    if (after === null || after === 'disk' || after.kind === 'directory') continue;
    const entry = entryAt(head, pathSegments(path));
    const origin = entry && nodeOf(head, entry)?.origin;
    if (origin === undefined || origin.path === path) continue;
    const old = entryAt(head, pathSegments(origin.path));
    if (old?.node === null && old.link === undefined && old.base?.state) moves.set(path, old.base);
  }
  return moves;
}

function baseOf(head: Head, path: string): DeltaNode['origin'] {
  return path === '/' ? undefined : entryAt(head, pathSegments(path))?.base;
}

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
  const request = { kind: 'path', path: base?.path ?? path, content: Number.MAX_SAFE_INTEGER } as const;
  const [result] = await lower.load([request], options);
  const bytes = result?.kind === 'path' ? result.content : undefined;
  if (bytes === undefined) return { kind, mode: meta.mode, size: record.size };
  return { kind, mode: meta.mode, size: bytes.length, hash: createHash('sha256').update(bytes).digest('hex') };
}

function isSameState(a: EntryState | null, b: EntryState | null): boolean {
  if (a === null || b === null) return a === b;
  return a.kind === b.kind && a.mode === b.mode && a.size === b.size && a.hash === b.hash && a.target === b.target;
}
