import { type AttemptChange, type Contents, contentOf, sortedChanges } from '../accept/attempt-change.js';
import type { PathDiff } from '../attempt-types.js';
import { hashOf } from '../log/contents.js';
import type { EntryState } from '../operation.js';
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
 * one is binary. Links and directories count as empty.
 */
export async function textDiffOf(
  change: AttemptChange,
  before: EntryState | null,
  contents: Contents,
  signal: AbortSignal | undefined,
): Promise<TextDiff | undefined> {
  const after = change.now;
  if (before?.hash === after?.hash) return { hunks: [], additions: 0, deletions: 0 };
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
