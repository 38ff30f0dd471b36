import { setTimeout as pause } from 'node:timers/promises';
import { FsError, StorageError } from '@scratchfs/core';
import type { FileSystemDiff } from '@scratchfs/core/diff';
import { checkOptions } from '@scratchfs/core/internal';
import { autoRunFiles, type KnownLink } from '../auto-run-files.js';
import { ConfinedRoot } from '../confined-root.js';
import { GitProtection } from '../git-protection.js';
import { givenPath } from '../given-path.js';
import { hostError } from '../host-error.js';
import { linksAround } from '../links-around.js';
import type { Recovery } from '../merge/stage.js';
import { StagingDirectory } from '../staging-directory.js';
import { ChangeJournal, type KeptEntry, PathChanged } from './change-journal.js';
import { type KnownChange, knownChanges, type PathChange } from './path-change.js';
import { type ApplyConflict, type ChangePlan, type PlannedChange, planChanges } from './plan-changes.js';

export interface ApplyOptions {
  /**
   * Treatment of paths whose state on the disk is not the one that their change began from. `fail`: nothing is written.
   * `skip`: these paths keep their state, and the others are written. `overwrite`: the new state is written all the
   * same, but nothing is removed that no change names. If a path cannot be overwritten, nothing is written. Default
   * `fail`.
   */
  readonly onConflict?: 'fail' | 'skip' | 'overwrite' | undefined;
  /** Write nothing, and return what would be done. Default false. */
  readonly dryRun?: boolean | undefined;
  /** Cancels the call until the first path is written. */
  readonly signal?: AbortSignal | undefined;
}

/** Paths are absolute in the directory. All lists except `kept` are sorted. */
export interface ApplyResult {
  /** False if conflicts stop the call, so that nothing is written. Always true with `skip`. */
  readonly success: boolean;
  /** Paths that were written or removed, or with `dryRun` would be. */
  readonly applied: readonly string[];
  /** Paths that had their new state already. */
  readonly unchanged: readonly string[];
  /** Paths whose change does not fit the state of the disk, even if they were overwritten. */
  readonly conflicts: readonly ApplyConflict[];
  /** Paths with a conflict that keep their state. */
  readonly skipped: readonly string[];
  /**
   * Applied files that other programs run or obey on their own (hooks, package scripts, `.envrc`, editor tasks), for a
   * person to review; see `autoRunFiles`. Also links in place of directories with such files, and links to those, and
   * files that such a link makes reachable: with the link `.vscode` → `conf`, the file `conf/tasks.json`. Known are the
   * links among the changes, and those of the disk in the directories above a changed path and in `.husky`,
   * `.git/hooks` and the like there. At most 2,000 directories are searched. A link elsewhere, or one that leads out of
   * the directory and back, is not seen.
   */
  readonly autoRun: readonly string[];
  /**
   * Entries that could not get their path back when changes were undone, because another process had taken the path or
   * removed its directory.
   */
  readonly kept: readonly KeptEntry[];
}

/** Maximum number of attempts. Changes are planned anew if other processes change their paths. */
const MAX_ATTEMPTS = 20;

/** Time in milliseconds to wait for changes that another call is making. */
const WAIT_MS = 10_000;

const PAUSE_MS = 20;

/**
 * Writes changes into a directory of the host: the way back from a filesystem in memory to a folder that is not a
 * repository. Takes a `diff` with `contents: true`, or a list of changes. All changes are made or none, except that
 * `skip` leaves out those with a conflict.
 *
 * Each path is compared with the state that its change began from. If it is in another state, that is a conflict, and
 * by default nothing is written. Paths that have the new state already are left alone. Missing directories above new
 * files are created. A replaced file keeps its owner if the process may set it. Times are those of the call. A replaced
 * file is a new file: other hard links keep the old one. Links are never followed, and links that lead out of the
 * directory are refused.
 *
 * New files are prepared in a hidden directory at the top, then given their names one after another, so other processes
 * may see a part of the changes for a moment, and no file for an instant where one is replaced, as with `git checkout`.
 * If another process creates or changes an entry in between, everything is undone, and the changes are compared again;
 * with `overwrite`, an entry changed in between is replaced. If the process is killed, the next `applyChanges` (except
 * with `dryRun`), `loadDirectory` or {@link recoverDirectory}, or opening the directory with a writable
 * `hostFileSystem`, undoes the changes, or completes them if all were made. Calls for one directory, also of several
 * processes, wait for each other for up to 10 seconds.
 *
 * The contents of `changes` must not be changed before the call ends.
 *
 * @throws TypeError for malformed changes or options; FsError EACCES for `.git` and other paths that `hostFileSystem`
 *   protects, for links that lead out and for names that begin with `.scratchfs-tmp-`, EXDEV for a path on another file
 *   system, EFBIG for too many changes, EBUSY if other calls or processes do not let it finish, and what the host
 *   refuses (ENOSPC, EACCES, EROFS …), all with nothing changed; the reason of the signal; StorageError if the host
 *   fails otherwise, or if undoing failed too: call `recoverDirectory`
 * @example
 * ```ts no-run
 * import { applyChanges, loadDirectory } from '@scratchfs/host';
 * import { diff } from 'scratchfs/diff';
 *
 * const { fileSystem: fs } = await loadDirectory('./project', { gitignore: true });
 * const before = await fs.checkpoint();
 * await fs.writeFile('/notes.md', 'An agent worked here.\n');
 * const result = await applyChanges(await diff(fs, before, undefined, { contents: true }), './project');
 * if (!result.success) console.log('Changed in the meantime:', result.conflicts);
 * ```
 */
export async function applyChanges(
  changes: readonly PathChange[] | FileSystemDiff,
  directory: string,
  options: ApplyOptions = {},
): Promise<ApplyResult> {
  const given = checkOptions<ApplyOptions>(options, ['onConflict', 'dryRun'], 'applyChanges');
  const { onConflict = 'fail', dryRun = false, signal } = given;
  if (!['fail', 'skip', 'overwrite'].includes(onConflict))
    throw new TypeError("onConflict must be 'fail', 'skip' or 'overwrite'");
  if (typeof dryRun !== 'boolean') throw new TypeError('dryRun must be true or false');
  const known = knownChanges(changes);
  signal?.throwIfAborted();
  await using target = open(directory);
  return await new Application(target, known, { onConflict, dryRun, signal }).run();
}

/**
 * Returns what {@link applyChanges} would do, and lists the paths for which it would throw because they cannot be
 * written, such as protected paths, links that lead out and paths on other file systems. Nothing is written.
 */
export async function examineChanges(
  changes: readonly PathChange[],
  directory: string,
  signal: AbortSignal | undefined,
): Promise<ApplyResult & { readonly refused: readonly string[] }> {
  const known = knownChanges(changes);
  const refused: string[] = [];
  await using target = open(directory);
  const result = await new Application(target, known, { onConflict: 'fail', dryRun: true, signal, refused }).run();
  return { ...result, refused };
}

/** Result of recovering a directory. */
export interface DirectoryRecovery {
  /** `nothing`: no interrupted changes were found, or the process that makes them may still run. */
  readonly outcome: Recovery;
  /**
   * Entries that could not get their paths back, because another process has taken the path or removed its directory.
   * They lie at the top, in a directory with a name that begins with `.scratchfs-kept-`.
   */
  readonly kept: readonly KeptEntry[];
}

/**
 * Undoes the changes of an `applyChanges` that was killed, or completes them if all were made. Files that another
 * process has created or changed since stay as they are.
 * @throws FsError EACCES if the changes concern protected paths, and what the host refuses; Error if something else lies
 *   in place of the changes. Nothing is lost: the call can be repeated.
 */
export async function recoverDirectory(directory: string): Promise<DirectoryRecovery> {
  await using target = open(directory);
  const recovery = await recover(target);
  return recovery === 'busy' ? NOTHING : recovery;
}

/** A directory that changes are applied to. */
export interface ApplyTarget {
  readonly root: ConfinedRoot;
  readonly staging: StagingDirectory;
  /** Undefined if repositories may be changed. */
  readonly protection: GitProtection | undefined;
}

const NOTHING: DirectoryRecovery = { outcome: 'nothing', kept: [] };

function open(directory: string): ApplyTarget & AsyncDisposable {
  if (typeof directory !== 'string' || directory.includes('\0'))
    throw new TypeError('The path of the directory must be a string without NUL');
  const path = givenPath(directory);
  let root: ConfinedRoot;
  try {
    root = new ConfinedRoot(path, false, true);
  } catch (error) {
    throw hostError(error, 'open', '/');
  }
  const staging = new StagingDirectory(root);
  return {
    root,
    staging,
    protection: new GitProtection(root),
    [Symbol.asyncDispose]: async () => {
      await staging.close();
      root.close();
    },
  };
}

/** Recovers a directory. `busy` if the process whose changes are found may still run. */
export async function recover({ root, staging, protection }: ApplyTarget): Promise<DirectoryRecovery | 'busy'> {
  const found = await ChangeJournal.find(root, staging);
  if (found === undefined) return NOTHING;
  if (found === 'busy') return 'busy';
  using journal = found;
  try {
    const { isDone } = journal;
    // An untrusted person may have prepared the journal, so its paths are checked like those of any change.
    const batch = protection?.forBatch();
    for (const { path } of journal.journal.steps) await batch?.checkEntry(path, 'place');
    const kept = isDone ? [] : await journal.undo();
    await journal.finish();
    return { outcome: isDone ? 'completed' : 'undone', kept };
  } catch (error) {
    await journal.release();
    throw hostError(error, 'recover', '/');
  }
}

interface KnownOptions {
  readonly onConflict: NonNullable<ApplyOptions['onConflict']>;
  readonly dryRun: boolean;
  readonly signal: AbortSignal | undefined;
  /** Paths that cannot be written are added here instead of throwing. */
  readonly refused?: string[] | undefined;
}

class Application {
  readonly #kept: KeptEntry[] = [];

  constructor(
    readonly target: ApplyTarget,
    readonly changes: readonly KnownChange[],
    readonly options: KnownOptions,
  ) {}

  async run(): Promise<ApplyResult> {
    const { dryRun, onConflict, signal, refused } = this.options;
    const taken = new Set<string>();
    let last = '';
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (!dryRun) await recovered(this.target, signal);
      const { root, protection } = this.target;
      const overwrites = onConflict === 'overwrite';
      const plan = await planChanges(root, protection, this.changes, { overwrites, signal, refused, taken });
      const autoRun = await autoRunOf(root, plan.changes);
      const result = { ...resultOf(plan, onConflict, autoRun), kept: this.#kept };
      if (dryRun || result.applied.length === 0) return result;
      const { changed, isTaken, kept } = await carryOut(this.target, plan.changes, signal);
      this.#kept.push(...kept);
      if (changed === undefined) return result;
      if (isTaken) taken.add(changed);
      last = changed;
    }
    const hint = `Other processes keep changing it; nothing was written`;
    throw new FsError('EBUSY', { syscall: 'apply', path: last, hint });
  }
}

/**
 * Undoes or completes interrupted changes, and waits for those of other calls.
 * @throws FsError EBUSY after {@link WAIT_MS}; what {@link recover} throws; the reason of the signal
 */
export async function recovered(target: ApplyTarget, signal: AbortSignal | undefined): Promise<void> {
  const until = performance.now() + WAIT_MS;
  while ((await recover(target)) === 'busy') {
    if (performance.now() > until) throw atWork();
    await pause(PAUSE_MS);
    signal?.throwIfAborted();
  }
}

/** Outcome of {@link carryOut}. */
export interface Attempt {
  /**
   * A path that another process has changed, so that everything was undone; `/` if the directory had the journal of
   * other changes. Undefined after success.
   */
  readonly changed: string | undefined;
  /** True if that path is new and the disk had it in another case, such as by another of the changes. */
  readonly isTaken?: boolean;
  readonly kept: readonly KeptEntry[];
}

/**
 * Makes all changes, or none of them. @throws what the host throws; the reason of the signal; StorageError if undoing
 * failed too, so that some changes may be made
 */
export async function carryOut(
  { root, staging }: ApplyTarget,
  changes: readonly PlannedChange[],
  signal: AbortSignal | undefined,
): Promise<Attempt> {
  let begun: ChangeJournal | undefined;
  try {
    begun = await ChangeJournal.begin(root, staging, changes, signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw hostError(error, 'apply', '/');
  }
  if (begun === undefined) return { changed: '/', kept: [] };
  using journal = begun;
  try {
    await journal.perform(changes);
  } catch (error) {
    const reason = error instanceof PathChanged ? error : hostError(error, 'apply', '/');
    const kept = await undo(journal, reason);
    if (reason instanceof PathChanged) return { changed: reason.path, isTaken: reason.isTaken, kept };
    throw reason;
  }
  // All changes are made. If the journal cannot be removed now, the next call removes it.
  await journal.finish().catch(() => journal.release());
  return { changed: undefined, kept: [] };
}

async function undo(journal: ChangeJournal, { message }: Error): Promise<KeptEntry[]> {
  try {
    const kept = await journal.undo();
    await journal.finish();
    return kept;
  } catch (error) {
    await journal.release();
    const why = `${message}; undoing failed too: ${hostError(error, 'undo', '/').message}`;
    throw new StorageError(
      'unavailable',
      `A part of the changes may be in the directory, and recoverDirectory can undo it. ${why}`,
    );
  }
}

function resultOf(
  { applied, unchanged, conflicts, skipped }: ChangePlan,
  onConflict: KnownOptions['onConflict'],
  autoRun: readonly string[],
): Omit<ApplyResult, 'kept'> {
  const isRefused = onConflict === 'skip' ? false : onConflict === 'fail' ? conflicts.length > 0 : skipped.length > 0;
  if (!isRefused) return { success: true, applied, unchanged, conflicts, skipped, autoRun };
  const paths = conflicts.map(({ path }) => path);
  return { success: false, applied: [], unchanged, conflicts, skipped: paths, autoRun: [] };
}

/** Returns the files and links among changes that other programs run, with the links as they are after the changes. */
async function autoRunOf(root: ConfinedRoot, changes: readonly PlannedChange[]): Promise<string[]> {
  const written = changes.filter(({ after }) => after !== undefined && after.kind !== 'directory');
  if (written.length === 0) return [];
  const paths = written.map(({ path }) => path);
  const changed = new Set(changes.map(({ path }) => path));
  const remaining = (await linksAround(root, paths)).filter(([path]) => !changed.has(path));
  const made = written.flatMap(({ path, after }): KnownLink[] =>
    after?.target === undefined ? [] : [[path, after.target]],
  );
  return autoRunFiles(paths, [...remaining, ...made]).sort();
}

function atWork(): FsError {
  const hint =
    'Another call of applyChanges is at work in the directory, or was in the last ten minutes on another host';
  return new FsError('EBUSY', { syscall: 'apply', path: '/', hint });
}
