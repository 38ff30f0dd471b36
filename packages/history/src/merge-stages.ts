import type { VersionEntry } from './diff.js';
import type { MergeSide } from './merge-sides.js';
import type { TreeEntry, TreeMode } from './objects/tree.js';

export type Entry = VersionEntry | undefined;

/** The entries of one file in the base and on both sides, at one path or at several that a rename connects. */
export interface Stages {
  base: Entry;
  ours: Entry;
  theirs: Entry;
}

/** Stages in which both sides have an entry, of the same kind. */
export type BothStages = Stages & { readonly ours: NonNullable<Entry>; readonly theirs: NonNullable<Entry> };

/** The paths of the three entries. */
export type Names = { readonly [stage in keyof Stages]: string };

/** A path in the changes of at least one side. */
export interface MergePath extends Stages {
  /**
   * The entry that the result has before the merge places any: that of our tree, or a file that moved with a directory.
   */
  readonly kept: Entry;
  names: Names;
  /**
   * True if a rename has already made this path a conflict. It then stays one even if one side did not change the path.
   */
  contested: boolean;
}

/** Returns all paths in the changes of the sides. */
export function pathsOf(left: MergeSide, right: MergeSide): Map<string, MergePath> {
  const paths = new Map<string, MergePath>();
  for (const { path, before, after } of left.changes.values()) {
    const theirs = right.changes.get(path);
    paths.set(path, mergePath(path, before, after, theirs === undefined ? before : theirs.after));
  }
  for (const { path, before, after } of right.changes.values())
    if (!paths.has(path)) paths.set(path, mergePath(path, before, before, after));
  return paths;
}

function mergePath(
  path: string,
  before: TreeEntry | undefined,
  ours: TreeEntry | undefined,
  theirs: TreeEntry | undefined,
): MergePath {
  const names = { base: path, ours: path, theirs: path };
  const kept = entryOf(ours);
  return { base: entryOf(before), ours: kept, theirs: entryOf(theirs), kept, names, contested: false };
}

export function entryOf(entry: TreeEntry | undefined): Entry {
  return entry && { id: entry.id, mode: entry.mode };
}

export function isSame(a: Entry, b: Entry): boolean {
  return a?.id === b?.id && a?.mode === b?.mode;
}

export function kindOf(mode: TreeMode): 'file' | 'link' | 'directory' | 'submodule' {
  if (mode === '120000') return 'link';
  if (mode === '40000') return 'directory';
  return mode === '160000' ? 'submodule' : 'file';
}
