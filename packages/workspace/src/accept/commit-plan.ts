import type { ObjectFormat } from '@scratchfs/history';
import { CommitDraft, type CommitEntry } from '@scratchfs/host/internal';
import { WorkspaceError } from '../errors.js';
import { hashOf } from '../log/contents.js';
import type { Conflict, EntryState } from '../operation.js';
import { type PlannedWrite, planApply, withoutPaths } from './apply-plan.js';
import { type Contents, contentOf, sameState } from './attempt-change.js';
import { ABSENT, type DiskEntry, DiskReader, type EntryReader } from './disk-reader.js';
import type { SelectedChange } from './select.js';

export interface CommitPlan {
  readonly entries: ReadonlyMap<string, CommitEntry | null>;
  /** Sorted paths whose changes the commit has, or that its parent has already. */
  readonly accepted: readonly string[];
  readonly conflicts: readonly Conflict[];
}

/** Opens a draft of a commit on a branch, or on HEAD. @throws WorkspaceError `refused` */
export async function openDraft(
  directory: string,
  branch: string | undefined,
  signal: AbortSignal | undefined,
): Promise<CommitDraft> {
  const draft = await CommitDraft.open(directory, { branch, signal });
  if (typeof draft === 'string') throw new WorkspaceError('refused', `Nothing was committed. ${draft}`);
  return draft;
}

/**
 * Merges selected changes with the parent of a commit. What the person has changed in committed files, but not
 * committed, stays out of it. Directories are left out, because git does not record them.
 * @throws WorkspaceError `refused` for paths that git would not record as they are, such as those with a filter
 */
export async function planCommit(
  draft: CommitDraft,
  directory: string,
  selected: readonly SelectedChange[],
  contents: Contents,
  signal: AbortSignal | undefined,
): Promise<CommitPlan> {
  const changes = selected.map(asInGit).filter(({ base, target }) => base !== null || target !== null);
  const names = changes.map(({ path }) => nameOf(path));
  await checkNames(draft, names);
  await using disk = DiskReader.open(directory, signal);
  const parent = new ParentReader(await draft.entriesAt(names), changes, disk, contents, signal);
  const plan = await planApply(changes, parent, contents, signal);
  const writes = withoutPaths(plan.writes, plan.conflicts, changes);
  const entries = new Map<string, CommitEntry | null>();
  for (const write of writes) {
    const name = nameOf(write.change.path);
    if (!sameState(parent.stateOf(name), write.after)) entries.set(name, entryOf(write));
  }
  return { entries, accepted: writes.map(({ change }) => change.path), conflicts: plan.conflicts };
}

/**
 * Checks that git records the selected paths as they are, and returns the hash algorithm of the repository. If the
 * directory cannot take a commit, because it is not the top of a repository for example, returns `sha1` unchecked.
 * @throws WorkspaceError `refused`
 */
export async function checkGitPaths(
  directory: string,
  selected: readonly SelectedChange[],
  signal: AbortSignal | undefined,
): Promise<ObjectFormat> {
  const opened = await CommitDraft.open(directory, { signal });
  if (typeof opened === 'string') return 'sha1';
  await using draft = opened;
  const changes = selected.map(asInGit).filter(({ base, target }) => base !== null || target !== null);
  await checkNames(
    draft,
    changes.map(({ path }) => nameOf(path)),
  );
  return draft.format;
}

async function checkNames(draft: CommitDraft, names: readonly string[]): Promise<void> {
  const refused = await draft.refused(names);
  if (refused.length > 0) {
    const shown = refused.slice(0, 5).map(({ path, reason }) => `/${path}: ${reason}`);
    const more = refused.length > shown.length ? `, and ${refused.length - shown.length} more` : '';
    throw new WorkspaceError(
      'refused',
      `Nothing was accepted, because git would not record these paths as they are: ${shown.join(', ')}${more}. Accept them by apply, or the others by path`,
    );
  }
}

/** Returns a change as git records it: without directories, and of a mode only whether it is executable. */
function asInGit(change: SelectedChange): SelectedChange {
  const { base, now, before, target } = change;
  return { ...change, base: gitState(base), now: gitState(now), before: gitState(before), target: gitState(target) };
}

function gitState(state: EntryState | null): EntryState | null {
  if (state === null || state.kind === 'directory') return null;
  return { ...state, mode: state.kind === 'file' && (state.mode & 0o100) !== 0 ? 0o755 : 0o644 };
}

function entryOf({ after, content }: PlannedWrite): CommitEntry | null {
  if (after === null) return null;
  if (after.kind === 'symlink') return { mode: '120000', content: Buffer.from(after.target ?? '') };
  return { mode: after.mode === 0o755 ? '100755' : '100644', content: content ?? new Uint8Array() };
}

function nameOf(path: string): string {
  return path.slice(1);
}

/** Reads the parent of a commit as if it were a directory of the disk. */
class ParentReader implements EntryReader {
  readonly #changes: ReadonlyMap<string, SelectedChange>;

  constructor(
    readonly entries: ReadonlyMap<string, CommitEntry>,
    changes: readonly SelectedChange[],
    readonly disk: EntryReader,
    readonly contents: Contents,
    readonly signal: AbortSignal | undefined,
  ) {
    this.#changes = new Map(changes.map((change) => [change.path, change]));
  }

  stateOf(name: string): EntryState | null {
    const entry = this.entries.get(name);
    if (entry === undefined) return null;
    const { mode, content } = entry;
    const { length: size } = content;
    if (mode === '120000') return { kind: 'symlink', mode: 0o644, size, target: Buffer.from(content).toString() };
    return { kind: 'file', mode: mode === '100755' ? 0o755 : 0o644, size, hash: hashOf(content) };
  }

  async read(path: string): Promise<DiskEntry> {
    const name = nameOf(path);
    const state = this.stateOf(name);
    if (state !== null) return { state, content: this.entries.get(name)?.content };
    const base = this.#changes.get(path)?.base ?? null;
    if (base === null) return ABSENT;
    // A file that the person has not committed yet counts as unchanged, so the commit adds it whole, as the attempt has
    // it.
    const { state: onDisk } = await this.disk.read(path);
    if (onDisk === null) return ABSENT;
    return { state: base, content: await contentOf(base, this.contents, this.signal) };
  }
}
