import { isWithin, parentPath } from '@scratchfs/core';
import { type ApplyConflict, applyChanges, type ConflictCode, type PathChange, type PathState } from '@scratchfs/host';
import { examineChanges } from '@scratchfs/host/internal';
import { WorkspaceError } from '../errors.js';
import type { Conflict, EntryState } from '../operation.js';
import type { DiskWrite } from './accept-record.js';
import { type ApplyPlan, type PlannedWrite, planApply, withoutPaths } from './apply-plan.js';
import { type Contents, contentOf, sameState } from './attempt-change.js';
import { DiskReader } from './disk-reader.js';
import type { SelectedChange } from './select.js';
import { mergeEntry } from './three-way.js';

/** Effect of an accept at one path, and the state that the attempt begins from afterwards. */
export interface AcceptedPath {
  readonly path: string;
  /**
   * State in the attempt that was accepted. If the attempt has another one later, an operation has changed it since.
   */
  readonly planned: EntryState | null;
  /** State on the disk before and after the accept. For a merge, both are the one after it. */
  readonly before: EntryState | null;
  readonly after: EntryState | null;
  /** New base of the attempt's change. */
  readonly base: EntryState | null;
  /** New state in the attempt. If it equals `base`, the attempt has no change of the path any more. */
  readonly now: EntryState | null;
}

export interface Applied {
  readonly success: boolean;
  /** Sorted by path. Empty without success. With `dryRun` nothing was written. */
  readonly paths: readonly AcceptedPath[];
  /** Sorted by path. Includes directories above new entries that the person had removed. */
  readonly writes: readonly DiskWrite[];
  readonly conflicts: readonly Conflict[];
  readonly autoRun: readonly string[];
  /** Directories to be removed that stay because they hold other entries, such as hidden or ignored ones. */
  readonly keptDirectories: readonly string[];
}

export interface ApplyCall {
  readonly onConflict: 'fail' | 'skip';
  readonly dryRun: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Called with what is to be written, after all contents are stored and before the disk changes; again for a new plan. */
  readonly onBegin?: ((accepted: Pick<Applied, 'paths' | 'writes'>) => Promise<void>) | undefined;
}

/**
 * Maximum number of plans of one call. A new plan is made if other processes have changed paths, or if the disk cannot
 * take some.
 */
const MAX_PLANS = 20;

/**
 * Writes selected changes into a directory of the disk, all of them or nothing; after `kill -9`, once the directory is
 * recovered. A path that the person has changed since is merged, or is a conflict, which `skip` leaves out.
 * @throws WorkspaceError `refused` if other processes keep changing the paths; FsError as `applyChanges` does
 */
export async function applySelection(
  directory: string,
  changes: readonly SelectedChange[],
  contents: Contents,
  { signal, dryRun, onConflict, onBegin }: ApplyCall,
): Promise<Applied> {
  const obstacles = new Map<string, Obstacle>();
  const addObstacles = async (found: readonly ApplyConflict[]): Promise<void> => {
    await using disk = DiskReader.open(directory, signal);
    for (const { path, code } of found) {
      // An entry that exists, but cannot be read under this name, is taken to have it in another case.
      if (code === 'exists' && (await disk.read(path)).state === null) obstacles.set(path, 'case');
      else if (!CHANGED.has(code)) obstacles.set(path, code);
    }
  };
  for (let count = 0; count < MAX_PLANS; count++) {
    signal?.throwIfAborted();
    await using disk = DiskReader.open(directory, signal);
    const { writes, conflicts, keptDirectories } = aroundObstacles(
      await planApply(changes, disk, contents, signal),
      obstacles,
    );
    if (conflicts.length > 0 && onConflict === 'fail') return failure(conflicts);
    const accepted = withoutPaths(writes, conflicts, changes);
    const made = await withMissingParents(accepted, disk);
    const hostChanges = made.map(({ path, before, after, content }) => hostChange(path, before, after, content));
    const dry = await examineChanges(hostChanges, directory, signal);
    if (!dry.success || dry.refused.length > 0) {
      for (const path of dry.refused) obstacles.set(path, 'refused');
      await addObstacles(dry.conflicts);
      continue;
    }
    const result = {
      success: true,
      paths: await Promise.all(accepted.map((write) => acceptedPath(write, contents, signal))),
      writes: made.map(({ path, before, after }) => ({ path, before, after })),
      conflicts,
      autoRun: dry.autoRun,
      keptDirectories,
    };
    if (dryRun) return result;
    for (const write of accepted) await store(write, contents, signal);
    await onBegin?.(result);
    const applied = await applyChanges(hostChanges, directory, { signal });
    if (applied.success) return result;
    await addObstacles(applied.conflicts);
  }
  throw new WorkspaceError('refused', 'Other processes keep changing the paths. Nothing was written: try again.');
}

type Obstacle = ConflictCode | 'refused' | 'case';

/** Conflict codes of the host after which the path is read again, because another process may have changed it. */
const CHANGED: ReadonlySet<ConflictCode> = new Set(['changed', 'missing', 'exists']);

function failure(conflicts: readonly Conflict[]): Applied {
  return { success: false, paths: [], writes: [], conflicts, autoRun: [], keptDirectories: [] };
}

/** Turns paths that the host cannot write into conflicts. A directory to be removed that is not empty stays instead. */
function aroundObstacles(
  { writes, conflicts }: ApplyPlan,
  obstacles: ReadonlyMap<string, Obstacle>,
): ApplyPlan & Pick<Applied, 'keptDirectories'> {
  const found = [...conflicts];
  const keptDirectories: string[] = [];
  const replaced = writes
    .filter(({ change, after }) => after !== null && obstacles.get(change.path) === 'not-empty')
    .map(({ change }) => change.path);
  const kept = writes.flatMap((write): PlannedWrite[] => {
    const { change, disk, after } = write;
    // If a directory cannot make room for a file, nothing in it is removed.
    if (after === null && replaced.some((path) => isWithin(change.path, path))) return [];
    const code = obstacles.get(change.path);
    if (code === undefined) return [write];
    if (code === 'not-empty' && after === null) {
      keptDirectories.push(change.path);
      return [{ ...write, after: disk.state }];
    }
    const { path, before: base, now: attempt } = change;
    found.push({
      path,
      code: code === 'not-empty' || code === 'refused' || code === 'case' ? code : 'kind',
      base,
      disk: disk.state,
      attempt,
    });
    return [];
  });
  found.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { writes: kept, conflicts: found, keptDirectories };
}

interface Write extends DiskWrite {
  readonly content: Uint8Array | undefined;
}

const NEW_DIRECTORY: EntryState = { kind: 'directory', mode: 0o755, size: 0 };

/** Returns what has to be written, with directories that the person has removed above new entries. */
async function withMissingParents(planned: readonly PlannedWrite[], disk: DiskReader): Promise<Write[]> {
  const writes = new Map<string, Write>();
  for (const { change, disk: entry, after, content } of planned) {
    if (sameState(entry.state, after)) continue;
    if (after !== null) {
      for (let above = parentPath(change.path); above !== '/' && !writes.has(above); above = parentPath(above)) {
        if ((await disk.read(above)).state !== null) break;
        writes.set(above, { path: above, before: null, after: NEW_DIRECTORY, content: undefined });
      }
    }
    writes.set(change.path, { path: change.path, before: entry.state, after, content });
  }
  return [...writes.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns a change for `applyChanges`. */
export function hostChange(
  path: string,
  before: EntryState | null,
  after: EntryState | null,
  content: Uint8Array | undefined,
): PathChange {
  return {
    path,
    ...(before === null ? {} : { before: hostState(before) }),
    ...(after === null ? {} : { after: { ...hostState(after), data: after.kind === 'file' ? content : undefined } }),
  };
}

function hostState({ kind, mode, hash, target }: EntryState): PathState {
  return { kind, mode, sha256: hash, target };
}

async function acceptedPath(
  { change, disk, after, content }: PlannedWrite,
  contents: Contents,
  signal: AbortSignal | undefined,
): Promise<AcceptedPath> {
  const { path, target, now } = change;
  const common = { path, planned: now, before: disk.state, after };
  // The attempt takes over what was merged.
  if (sameState(target, now)) return { ...common, base: after, now: after };
  if (sameState(target, after)) return { ...common, base: target, now };
  const side = (state: EntryState | null, data?: Uint8Array) => ({
    state,
    content: async () => data ?? (await contentOf(state, contents, signal)),
  });
  const rest = await mergeEntry(side(target, change.content), side(after, content), side(now));
  // The rest is in conflict: the attempt finds that when it compares its base with the disk.
  if ('conflict' in rest) return { ...common, base: target, now };
  if (rest.content !== undefined) await contents.write(rest.content, signal);
  return { ...common, base: after, now: rest.state };
}

/** Stores the contents that undoing, repeating and continuing after an accept need. */
async function store(
  { change, disk, content }: PlannedWrite,
  contents: Contents,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const data of [disk.content, content, change.content])
    if (data !== undefined) await contents.write(data, signal);
}
