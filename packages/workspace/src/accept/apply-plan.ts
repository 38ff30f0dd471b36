import { isWithin, parentPath } from '@scratchfs/core';
import type { Conflict, EntryState } from '../operation.js';
import { type AttemptChange, type Contents, contentOf, sameState } from './attempt-change.js';
import { ABSENT, type DiskEntry, type EntryReader } from './disk-reader.js';
import type { SelectedChange } from './select.js';
import { type Merged, mergeEntry, type Side, sideOf } from './three-way.js';

/** A selected change compared with the disk. */
export interface PlannedWrite {
  readonly change: SelectedChange;
  readonly disk: DiskEntry;
  /** State to write: that of the attempt, or merged with what the person has changed. */
  readonly after: EntryState | null;
  /** Content of a file `after`. Undefined if the disk has it already. */
  readonly content: Uint8Array | undefined;
}

export interface ApplyPlan {
  /** Sorted by path. Includes changes that the disk has already. */
  readonly writes: readonly PlannedWrite[];
  readonly conflicts: readonly Conflict[];
}

/** Compares selected changes with the disk. Nothing is written. */
export async function planApply(
  changes: readonly SelectedChange[],
  disk: EntryReader,
  contents: Contents,
  signal: AbortSignal | undefined,
): Promise<ApplyPlan> {
  const oldEntries = new Map<string, DiskEntry>();
  const moved = new Map(changes.flatMap(({ path, from }) => (from === undefined ? [] : [[from, path]])));
  const writes: PlannedWrite[] = [];
  const conflicts: Conflict[] = [];
  const made = new Set<string>();
  for (const change of changes) {
    const { path, from } = change;
    if (change.conflict !== undefined) {
      conflicts.push(change.conflict);
      continue;
    }
    // Nothing lies in a directory that is yet to be created.
    const entry = made.has(parentPath(path)) ? ABSENT : await disk.read(path);
    const old = from === undefined ? undefined : (oldEntries.get(from) ?? (await disk.read(from)));
    const merged = moved.has(path) ? removalOf(entry) : await mergeChange(change, entry, old, contents, signal);
    if ('conflict' in merged)
      conflicts.push({
        path,
        code: merged.conflict,
        base: change.before,
        disk: (old ?? entry).state,
        attempt: change.now,
      });
    else {
      writes.push({ change, disk: entry, after: merged.state, content: merged.content });
      if (merged.state?.kind === 'directory' && entry.state?.kind !== 'directory') made.add(path);
    }
  }
  return { writes, conflicts };
}

/** Plans the removal of a move's old path, whatever content it has: the new path takes over what the person changed. */
function removalOf({ problem }: DiskEntry): Merged {
  return problem === undefined ? { state: null } : { conflict: 'kind' };
}

async function mergeChange(
  change: SelectedChange,
  entry: DiskEntry,
  old: DiskEntry | undefined,
  contents: Contents,
  signal: AbortSignal | undefined,
): Promise<Merged> {
  if (entry.problem !== undefined) return { conflict: 'kind' };
  const { source, base, before, target } = change;
  const attempt: Side = {
    state: target,
    content: async () => change.content ?? (await contentOf(target, contents, signal)),
  };
  if (old === undefined) {
    // An entry that was moved here does not depend on the one that it replaced.
    const start = source !== undefined && entry.state === null ? null : base;
    return mergeEntry(sideOf(start, contents, signal), diskSide(entry), attempt);
  }
  if (target?.kind === 'directory' && old.state?.kind !== 'directory') return { conflict: 'directory' };
  if (old.state === null) return { conflict: 'removed' };
  // An entry of another kind, which the person has put there, is not the one that was moved.
  if (before !== null && old.state.kind !== before.kind) return { conflict: 'kind' };
  const merged = await mergeEntry(sideOf(before, contents, signal), diskSide(old), attempt);
  if ('conflict' in merged || sameState(merged.state, entry.state)) return merged;
  if (entry.state !== null) return { conflict: 'exists' };
  // Changes that the person made at the old path move too.
  return merged.state?.kind === 'file' ? { ...merged, content: merged.content ?? old.content } : merged;
}

function diskSide({ state, content = new Uint8Array() }: DiskEntry): Side {
  return { state, content: async () => content };
}

/**
 * Returns the writes that can be made although paths in conflict keep their state: none under such a path except
 * removals, and no half of a file's move.
 * @param changes all changes that were planned, those with conflicts included
 */
export function withoutPaths(
  writes: readonly PlannedWrite[],
  conflicts: readonly Conflict[],
  changes: readonly SelectedChange[],
): PlannedWrite[] {
  const all = new Set(conflicts.map(({ path }) => path));
  const isFile = ({ now, base }: AttemptChange): boolean => (now ?? base)?.kind !== 'directory';
  for (let size = -1; size !== all.size; ) {
    size = all.size;
    for (const change of changes) {
      const { path, from = change.source } = change;
      if (change.target !== null && [...all].some((above) => isWithin(path, above))) all.add(path);
      if (from === undefined || !isFile(change)) continue;
      if (all.has(path)) all.add(from);
      else if (all.has(from)) all.add(path);
    }
  }
  return writes.filter(({ change }) => !all.has(change.path));
}
