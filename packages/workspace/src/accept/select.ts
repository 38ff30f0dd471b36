import { isWithin, type NodeId, normalizePath, parentPath, quote } from '@scratchfs/core';
import type { Hunk } from '../attempt-types.js';
import { applyHunks } from '../diff/hunks.js';
import { beforeOf, hunkPrefix, textDiffOf } from '../diff/path-diffs.js';
import { WorkspaceError } from '../errors.js';
import { hashOf } from '../log/contents.js';
import type { EntryState } from '../operation.js';
import { type AttemptChange, type Contents, contentOf, sameState, sortedChanges } from './attempt-change.js';
import type { EntryReader } from './disk-reader.js';
import { mergeEntry, sideOf } from './three-way.js';

export interface Selection {
  /** Only these paths and what is under them. Default: all, or none if `hunks` is given. */
  readonly paths?: readonly string[] | undefined;
  /** Only these hunks. Files without one are selected if `paths` names them. */
  readonly hunks?: readonly string[] | undefined;
  /**
   * Reads the disk. In a file that the person has changed, hunks of a diff with the disk have other ids than those of
   * the accept. Such an id selects the conflict of its file, if there is one.
   */
  readonly disk?: EntryReader | undefined;
}

/** A change of which all or some of the hunks are selected. */
export interface SelectedChange extends AttemptChange {
  /** State with the selected hunks alone. The same as `now` if the change is selected whole. */
  readonly target: EntryState | null;
  /** Content of the target, if it is neither that of the base nor that of the attempt. */
  readonly content?: Uint8Array | undefined;
  /** State that the target's content is derived from: for a moved entry that of its old path. */
  readonly before: EntryState | null;
}

/**
 * Returns the selected changes, sorted by path, with those that they need: new directories above them, everything under
 * a directory that is removed or replaced, both ends of a file's move, also over another file, and all names of a file
 * that has several.
 * @throws WorkspaceError `not-found` for a path without a change and for an unknown hunk; `moved` for a hunk of a file
 *   whose changes on the disk can be merged, but have not been yet
 */
export async function selectChanges(
  changes: readonly AttemptChange[],
  { paths, hunks, disk }: Selection,
  contents: Contents,
  signal?: AbortSignal,
): Promise<SelectedChange[]> {
  const all = sortedChanges(changes);
  const byPath = new Map(all.map((change) => [change.path, change]));
  const partial = new Map<string | NodeId | undefined, Partial>(
    hunks === undefined ? [] : await withHunks(all, byPath, { hunks, disk }, contents, signal),
  );
  const chosen = new Set([...partial.keys()] as string[]);
  // Hunks that are selected under one name of a file are selected under all its names.
  for (const path of chosen) {
    const { link } = byPath.get(path) as AttemptChange;
    if (link !== undefined) partial.set(link, partial.get(path) as Partial);
  }
  if (paths !== undefined) for (const path of pathsUnder(all, paths)) chosen.add(path);
  else if (hunks === undefined) for (const path of byPath.keys()) chosen.add(path);
  addNeeded(chosen, byPath);
  return all
    .filter(({ path }) => chosen.has(path))
    .map((change) => {
      const before = beforeOf(change, byPath);
      return { ...change, before, target: change.now, ...(partial.get(change.path) ?? partial.get(change.link)) };
    });
}

function pathsUnder(changes: readonly AttemptChange[], paths: readonly string[]): string[] {
  return paths.flatMap((given) => {
    const top = normalizePath(given);
    const found = changes.filter(
      ({ path, source, from = source }) => isWithin(path, top) || (from !== undefined && isWithin(from, top)),
    );
    if (found.length === 0)
      throw new WorkspaceError('not-found', `The attempt has no change at ${quote(top)}. ${named(changes)}`);
    return found.map(({ path }) => path);
  });
}

const MAX_NAMED_PATHS = 5;

function named(changes: readonly AttemptChange[]): string {
  if (changes.length === 0) return 'It has no changes.';
  const names = changes.slice(0, MAX_NAMED_PATHS).map(({ path }) => quote(path));
  const more = changes.length > names.length ? ` and ${changes.length - names.length} more` : '';
  return `It has changes at ${names.join(', ')}${more}.`;
}

/** Adds the changes that chosen ones need, as {@link selectChanges} says. */
function addNeeded(chosen: Set<string>, byPath: ReadonlyMap<string, AttemptChange>): void {
  const targets = new Map<string, string>();
  const names = new Map<NodeId, string[]>();
  for (const { path, source, from = source, link } of byPath.values()) {
    if (from !== undefined) targets.set(from, path);
    if (link !== undefined) names.set(link, [...(names.get(link) ?? []), path]);
  }
  // A set visits what is added during the loop.
  for (const path of chosen) {
    const change = byPath.get(path) as AttemptChange;
    const other = change.from ?? change.source ?? targets.get(path);
    const isDirectory = (change.now ?? change.base)?.kind === 'directory';
    if (other !== undefined && !isDirectory) chosen.add(other);
    if (change.link !== undefined) for (const name of names.get(change.link) ?? []) chosen.add(name);
    if (change.now !== null) {
      for (let above = parentPath(path); above !== '/'; above = parentPath(above)) {
        const parent = byPath.get(above);
        if (parent?.now?.kind === 'directory' && parent.base?.kind !== 'directory') chosen.add(above);
      }
    }
    if (change.base?.kind === 'directory' && change.now?.kind !== 'directory')
      for (const inside of byPath.keys()) if (isWithin(inside, path)) chosen.add(inside);
  }
}

type Partial = Pick<SelectedChange, 'target' | 'content' | 'conflict'>;

/** Returns the target of each file that has one of the given hunks, by path. */
async function withHunks(
  changes: readonly AttemptChange[],
  byPath: ReadonlyMap<string, AttemptChange>,
  { hunks: ids, disk }: { readonly hunks: readonly string[]; readonly disk: EntryReader | undefined },
  contents: Contents,
  signal: AbortSignal | undefined,
): Promise<Map<string, Partial>> {
  const wanted = new Set(ids);
  const targets = new Map<string, Partial>();
  for (const change of changes) {
    // A diff compares a moved file with what it was at its old path, also if it was moved over another one.
    const before = beforeOf({ ...change, from: change.from ?? change.source }, byPath);
    const prefix = `${hunkPrefix(change.path, before, change.now)}-`;
    if (![...wanted].some((id) => id.startsWith(prefix))) continue;
    const all = (await textDiffOf(change, before, contents, signal))?.hunks ?? [];
    const some = all.filter(({ id }) => wanted.delete(id));
    if (some.length > 0) targets.set(change.path, await targetOf(change, before, all, some, contents, signal));
  }
  if (wanted.size > 0 && disk !== undefined)
    for (const change of changes) {
      const found = await comparedWithDisk(change, wanted, disk, contents, signal);
      if (found !== undefined) targets.set(change.path, found);
    }
  const [unknown] = wanted;
  if (unknown === undefined) return targets;
  const hint = 'Hunks get new ids when a side of their file changes: take the ids from a new diff';
  throw new WorkspaceError('not-found', `The attempt has no hunk ${quote(unknown)}. ${hint}.`);
}

/**
 * Finds ids that name hunks between what the disk has and the attempt, and removes them. Returns the conflict of the file,
 * or the whole file if a difference to the disk shows it as new because it was moved along with its directory.
 * @throws WorkspaceError `moved` if the person has changed the file and there is no conflict
 */
async function comparedWithDisk(
  change: AttemptChange,
  ids: Set<string>,
  disk: EntryReader,
  contents: Contents,
  signal: AbortSignal | undefined,
): Promise<Partial | undefined> {
  const { path, from, base, now } = change;
  const { state, content } = await disk.read(path);
  if (from === undefined && sameState(state, base)) return undefined;
  const some = [...ids].filter((id) => id.startsWith(`${hunkPrefix(path, state, now)}-`));
  if (some.length === 0) return undefined;
  for (const id of some) ids.delete(id);
  if (from !== undefined && state === null) return { target: now };
  const onDisk = { state, content: async () => content ?? new Uint8Array() };
  const merged = await mergeEntry(sideOf(base, contents, signal), onDisk, sideOf(now, contents, signal));
  if ('conflict' in merged)
    return { target: now, conflict: { path, code: merged.conflict, base, disk: state, attempt: now } };
  const hint = 'Call refresh(), and take the ids from a new diff';
  throw new WorkspaceError('moved', `The disk has changes of ${quote(path)} that the attempt has not merged. ${hint}.`);
}

async function targetOf(
  { now }: AttemptChange,
  before: EntryState | null,
  all: readonly Hunk[],
  some: readonly Hunk[],
  contents: Contents,
  signal: AbortSignal | undefined,
): Promise<Partial> {
  if (some.length === all.length) return { target: now };
  const [old, current] = await Promise.all([contentOf(before, contents, signal), contentOf(now, contents, signal)]);
  const content = applyHunks(old, current, some);
  // If only some hunks are selected, the file keeps its mode.
  const { mode } = (before ?? now) as EntryState;
  return { target: { kind: 'file', mode, size: content.length, hash: hashOf(content) }, content };
}
