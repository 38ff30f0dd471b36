import { compareNames, parentPath } from '@scratchfs/core';
import { type AttemptChange, type Contents, contentOf, sortedChanges } from '../accept/attempt-change.js';
import type { PathDiff } from '../attempt-types.js';
import { hashOf, type Contents as StoredContents } from '../log/contents.js';
import type { ChangeSide, EntryState, OperationChange } from '../operation.js';
import type { TextDiff } from './hunks.js';

export interface PathDiffOptions {
  /** Include hunks. Default false. */
  readonly hunks?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Returns changes as differences, sorted by path. The removal of a moved entry's old path is part of the move. */
export async function pathDiffs(
  changes: readonly AttemptChange[],
  contents: Contents,
  options: PathDiffOptions = {},
): Promise<PathDiff[]> {
  const all = sortedChanges(changes);
  const byPath = new Map(all.map((change) => [change.path, change]));
  const moved = movedPaths(all);
  const diffs: PathDiff[] = [];
  for (const change of all) {
    if (moved.has(change.path)) continue;
    diffs.push(await pathDiff(change, beforeOf(change, byPath), contents, options));
  }
  return diffs;
}

/** Returns the old paths of all moves. */
export function movedPaths(changes: readonly AttemptChange[]): Set<string> {
  return new Set(changes.flatMap(({ from }) => (from === undefined ? [] : [from])));
}

/** Returns the state that a change is compared with: for a moved entry that of its old path. */
export function beforeOf({ from, base }: AttemptChange, byPath: ReadonlyMap<string, AttemptChange>): EntryState | null {
  return from === undefined ? base : (byPath.get(from)?.base ?? null);
}

async function pathDiff(
  change: AttemptChange,
  before: EntryState | null,
  contents: Contents,
  { hunks = false, signal }: PathDiffOptions,
): Promise<PathDiff> {
  const { path, from, now: after } = change;
  return {
    path,
    type: from !== undefined ? 'moved' : before === null ? 'added' : after === null ? 'removed' : 'changed',
    ...(from === undefined ? {} : { from }),
    before,
    after,
    ...(await textOf(change, before, contents, { hunks, signal })),
  };
}

/**
 * Returns changes of the disk as differences, sorted by path, each removed directory with its number of files.
 * @param isWanted chooses the changes that are returned
 */
export async function diskDiffs(
  changes: readonly OperationChange[],
  isWanted: (change: OperationChange) => boolean,
  contents: StoredContents,
  options: PathDiffOptions = {},
): Promise<PathDiff[]> {
  const origins = new Set(changes.filter(isWanted).map(({ from }) => from));
  const wanted = changes.filter((change) => isWanted(change) || origins.has(change.path));
  const stored: Contents = {
    read: (hash, signal) => contents.read(hash, { signal }),
    write: () => Promise.reject(new TypeError('Differences store nothing')),
  };
  const diffs = await pathDiffs(
    wanted.map(({ path, from, before, after }) => ({ path, from, base: known(before), now: known(after) })),
    stored,
    options,
  );
  const files = filesIn(changes.filter(({ before, after }) => after === null && known(before)?.kind !== 'directory'));
  return diffs
    .map((diff) =>
      diff.type === 'removed' && diff.before?.kind === 'directory'
        ? { ...diff, files: files.get(diff.path) ?? 0 }
        : diff,
    )
    .sort((a, b) => compareNames(a.path, b.path));
}

/** Returns a side of a change on the disk. @throws TypeError for `disk` */
function known(side: ChangeSide): EntryState | null {
  if (side === 'disk') throw new TypeError('A change of the disk needs the state on both sides');
  return side;
}

/** Returns how many of the entries are in or under each directory except `/`. */
export function filesIn(entries: readonly { readonly path: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { path } of entries)
    for (let above = parentPath(path); above !== '/'; above = parentPath(above))
      counts.set(above, (counts.get(above) ?? 0) + 1);
  return counts;
}

/** Returns differences with their hunks and numbers of lines. */
export async function withText(
  diffs: readonly PathDiff[],
  contents: Contents,
  options: PathDiffOptions = {},
): Promise<PathDiff[]> {
  const found: PathDiff[] = [];
  for (const diff of diffs) {
    const { path, before, after } = diff;
    found.push({ ...diff, ...(await textOf({ path, base: before, now: after }, before, contents, options)) });
  }
  return found;
}

async function textOf(
  change: AttemptChange,
  before: EntryState | null,
  contents: Contents,
  { hunks = false, signal }: PathDiffOptions,
): Promise<Pick<PathDiff, 'binary' | 'additions' | 'deletions' | 'hunks'>> {
  const text = await textDiffOf(change, before, contents, signal);
  const { additions = 0, deletions = 0, hunks: all = [] } = text ?? {};
  return { binary: text === undefined, additions, deletions, hunks: hunks ? all : [] };
}

/**
 * Compares the texts of a change's files. Returns no hunks if the contents are equal, and undefined if they differ and
 * one is binary or not known. Links and directories count as empty.
 */
export async function textDiffOf(
  change: AttemptChange,
  before: EntryState | null,
  contents: Contents,
  signal: AbortSignal | undefined,
): Promise<TextDiff | undefined> {
  const after = change.now;
  if (before?.hash === after?.hash) return { hunks: [], additions: 0, deletions: 0 };
  if ([before, after].some((state) => state?.kind === 'file' && state.hash === undefined)) return undefined;
  const [old, current] = await Promise.all([contentOf(before, contents, signal), contentOf(after, contents, signal)]);
  const { textDiff } = await import('./hunks.js');
  return textDiff(old, current, hunkPrefix(change.path, before, after));
}

const PREFIX_DIGITS = 10;

/** Returns the first part of a file's hunk ids, which depends on its path and both contents. */
export function hunkPrefix(path: string, before: EntryState | null, after: EntryState | null): string {
  const sides = Buffer.from(`${path}\0${before?.hash ?? ''}\0${after?.hash ?? ''}`);
  return hashOf(sides).slice(0, PREFIX_DIGITS);
}
