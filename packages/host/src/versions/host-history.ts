import { existsSync } from 'node:fs';
import { mkdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemClock } from '@scratchfs/core';
import {
  type Commit,
  type CommitOptions,
  type FormattableDiff,
  type FormatVersionDiffOptions,
  History,
  HistoryError,
  isObjectId,
  MemoryRepository,
  type NamedObject,
  type ObjectFormat,
  type ObjectId,
  type PathEntry,
  type Person,
  type Repository,
  type TreeEdits,
  type TreeMode,
  type VersionDiff,
  type VersionDiffOptions,
} from '@scratchfs/history';
import { checkOptions } from '../check-options.js';
import { directoriesAbove } from '../directories-above.js';
import { Git } from '../git/git.js';
import { GitObjects } from '../git/git-objects.js';
import { findRepository, type GitRepository } from '../git/git-repository.js';
import { holdsRepository, isAt, isGitDirectory, isInGitDirectory } from '../git/repositories-at.js';
import { givenPath } from '../given-path.js';
import { executeMerge, type MergeBackOptions, type MergeResult } from '../merge/execute-merge.js';
import { listOf } from '../merge/work-tree-state.js';
import { nodePrimitives } from '../node-primitives.js';
import type { RawName } from '../path-handle.js';
import { ignoredPaths } from './ignored-paths.js';
import { LinkedRepository } from './linked-repository.js';
import { type Listing, listVersion, readWorkingTree } from './onboard.js';
import { listed, readWorktree, type Unrepresentable } from './read-worktree.js';
import { unusualModes } from './unusual-modes.js';
import { WorktreeCache } from './worktree-cache.js';
import { type WorktreeChange, writeWorktree } from './write-worktree.js';

export interface HostHistoryOptions {
  /**
   * Repository in which versions are stored. Objects of an onboarded repository are not copied: they are read where
   * they are, so that repository is needed later too. Default: in memory, for SHA-1 and SHA-256. A `GitDirectory` of
   * `@scratchfs/history` stores them on disk; no reference leads to them, so `git gc` there removes those that no
   * branch of `historyOf(version)` reaches.
   */
  readonly repository?: Repository | undefined;
  /**
   * Maximum bytes of one object, such as a file, of an onboarded repository; reading a larger one fails. Default: 256
   * MiB.
   */
  readonly maxObjectBytes?: number | undefined;
  /**
   * Maximum number of entries of a version: files, links, submodules and directories. Onboarding, checkout, comparison
   * and merging stop there with `too-large`, because a repository of a few small objects can describe more entries than
   * any memory or disk holds. Default: 1,000,000.
   */
  readonly maxEntries?: number | undefined;
  /** Author of commits. Default: `scratchfs <scratchfs@localhost>`. */
  readonly author?: Person | undefined;
  /** Current time in epoch milliseconds. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

export interface OnboardOptions {
  /**
   * Record the files of the work tree as a commit on HEAD. Default false: HEAD itself, whatever the work tree holds.
   */
  readonly workingTree?: boolean | undefined;
  /** Include files that git's rules ignore. Has no effect on a repository without `workingTree`. Default false. */
  readonly includeIgnored?: boolean | undefined;
  /**
   * Called for each path that scratchfs cannot represent (it is left out), for each entry with a mode that git no
   * longer writes (it is kept, with the mode as git reads it), and with `workingTree` for each nested repository of a
   * repository (it is left out). Default: these nested repositories are left out silently, and anything else is refused
   * with a message that lists the first 20.
   */
  readonly skipUnrepresentable?: ((skipped: Unrepresentable) => void) | undefined;
  readonly onProgress?: ((progress: { readonly done: number; readonly total: number | undefined }) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SnapshotOptions extends Omit<CommitOptions, 'message' | 'parents' | 'branch'> {
  /** Include files that git's rules ignore and that the parent does not have. Default false. */
  readonly includeIgnored?: boolean | undefined;
  /**
   * Called for each path that a version cannot represent, which is then left out. Default: refuse, with a message that
   * lists the first 20.
   */
  readonly skipUnrepresentable?: ((skipped: Unrepresentable) => void) | undefined;
}

export interface CheckoutOptions {
  /**
   * Allow a directory that is or contains repositories, which are deleted with their history, or that is part of a git
   * directory. Default false: refuse.
   */
  readonly force?: boolean | undefined;
  /** Cancels the call until the directory begins to change. */
  readonly signal?: AbortSignal | undefined;
}

/** Maximum number of work trees whose file stats are cached. */
const MAX_CACHED_WORK_TREES = 16;
/** New contents are stored as soon as they have more bytes than this together. */
const BATCH_BYTES = 8 * 2 ** 20;
/** Number of files between two progress reports. */
const FILES_PER_PROGRESS = 500;
const NONE: ReadonlySet<string> = new Set();
const ONBOARD_OPTIONS = ['workingTree', 'includeIgnored', 'skipUnrepresentable', 'onProgress', 'signal'] as const;
const SNAPSHOT_OPTIONS = ['includeIgnored', 'skipUnrepresentable', 'author', 'committer', 'signal'] as const;
const AS_THEY_LIE = 'The files as they lie';

/**
 * Versions between the user's disk and an agent: onboards a repository or folder, fills and records work trees, and
 * merges a result back into the repository. Version ids are git's commit ids.
 *
 * @example
 * ```ts no-run
 * import { HostHistory } from '@scratchfs/host';
 *
 * await using versions = new HostHistory({ author: { name: 'fixer', email: 'fixer@example.com' } });
 * const start = await versions.onboardRepo('/home/me/project');
 * await versions.checkoutSnapshot(start, '/tmp/attempt');
 * // … an agent works in /tmp/attempt …
 * const fixed = await versions.createSnapshot('/tmp/attempt', start, 'Fix the parser');
 * console.log(await versions.formatDiffForDisplay(await versions.diffSnapshots(start, fixed)));
 * console.log(await versions.executeMerge('/home/me/project', fixed));
 * ```
 */
export class HostHistory implements AsyncDisposable {
  readonly #options: HostHistoryOptions;
  readonly #histories = new Map<ObjectFormat, { readonly history: History; readonly repository: LinkedRepository }>();
  readonly #caches = new Map<string, WorktreeCache>();
  readonly #clock: () => number;
  #isClosed = false;

  constructor(options: HostHistoryOptions = {}) {
    checkOptions(options, ['repository', 'maxObjectBytes', 'maxEntries', 'author', 'clock'], 'HostHistory');
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * Returns the history with the versions whose ids have the length of the given one (default: SHA-1), for work in
   * memory: commit, checkout, log, diff and merge of filesystems.
   */
  historyOf(version?: string): History {
    return this.#of(formatOf(version)).history;
  }

  /**
   * Onboards a repository or a folder and returns the id of its version. Without `workingTree`, a repository's version
   * is its HEAD, with the same id unless `skipUnrepresentable` is called. Its objects are read where they are, so the
   * repository has to stay there; another repository created at its path later is onboarded anew. Submodules stay a
   * commit id each. With `workingTree`, other nested repositories are left out. A folder that is not a repository
   * becomes a version without a parent.
   * @throws HistoryError `hostile` for paths that cannot be represented, with nothing onboarded; `not-found` for a
   *   repository without commits; `too-large` for more than `maxEntries` entries; what git and the host throw
   */
  async onboardRepo(sourcePath: string, options: OnboardOptions = {}): Promise<ObjectId> {
    checkOptions(options, ONBOARD_OPTIONS, 'onboardRepo');
    const repository = await findRepository(sourcePath);
    if (repository === undefined) return this.#onboardFolder(await realpath(givenPath(sourcePath)), options);
    const { signal } = options;
    const { git } = repository;
    const head = await git.run(['rev-parse', '--verify', '-q', 'HEAD^{commit}'], { accept: [0, 1, 128], signal });
    const tip = head.exitCode === 0 ? (head.stdout.toString('utf8').trim() as ObjectId) : undefined;
    if (tip === undefined && options.workingTree !== true)
      throw new HistoryError('not-found', 'The repository has no commit yet: commit something, or take workingTree');
    const { history } = await this.#link(repository);
    if (options.workingTree !== true) {
      const listing = await listVersion(git, tip as ObjectId, history.countEntries(), signal);
      const unusual = await unusualModes(git, history.repository, tip as ObjectId, listing.trees, signal);
      return this.#accepted(history, { ...listing, unusual }, tip as ObjectId, tip, options);
    }
    const { tree, listing, objects, nested } = await readWorkingTree(repository, {
      ...options,
      count: history.countEntries(),
    });
    await history.repository.write(objects, { signal });
    for (const path of nested) options.skipUnrepresentable?.({ path, reason: 'it is a repository of its own' });
    return this.#accepted(history, listing, tree, tip, options);
  }

  /**
   * Records a directory of the host as a version: all files and links except its own `.git` and, by default, paths that
   * git's rules ignore and the parent does not have. Files that have not changed since the last call are usually not
   * read again. If the parent has a submodule at a path, an empty directory there stands for it, and so does a
   * checked-out submodule if the directory is a repository's work tree; other files there are refused, as git does.
   * @throws HistoryError `hostile` for paths that cannot be represented, `not-found` if the parent does not exist,
   *   `too-large` for more than `maxEntries` entries; what git and the host throw
   */
  async createSnapshot(
    worktreePath: string,
    parentCommit: string | undefined,
    message: string,
    options: SnapshotOptions = {},
  ): Promise<ObjectId> {
    checkOptions(options, SNAPSHOT_OPTIONS, 'createSnapshot');
    const { includeIgnored, skipUnrepresentable, ...commit } = options;
    const refused: Unrepresentable[] = [];
    const onUnrepresentable = skipUnrepresentable ?? ((found: Unrepresentable) => void refused.push(found));
    const folder = await realpath(givenPath(worktreePath));
    const { signal } = options;
    const tree = await this.#treeOf(folder, parentCommit, { includeIgnored, onUnrepresentable, signal });
    refuse(refused);
    const parents = parentCommit === undefined ? [] : [parentCommit];
    return this.historyOf(parentCommit).commitTree(tree, { ...commit, message, parents });
  }

  /**
   * Makes a directory hold exactly the files and links of a version, and removes everything else in it, ignored files
   * and empty directories too. Creates the directory if it is missing. All new files are written beside the old ones
   * before the first removal, so a missing or damaged object, an impossible link target or a full disk changes nothing.
   * From then on each file is replaced atomically; if the call fails or the process is killed, it has to be repeated.
   * Files on another disk that is mounted in the directory are written again after the removals, and may fail there.
   * @throws TypeError for an empty path. Without `force`, TypeError for a directory that is a repository (also a bare
   *   one) or part of git's own directory, or if the call would remove a repository in it, at any depth, or a directory
   *   that cannot be read. HistoryError `not-found`, `wrong-type`, `hostile`, `corrupt`, `too-large`; FsError such as
   *   ENOSPC while new files are written beside the old ones; the reason of the signal. In all these cases no file was
   *   changed
   */
  async checkoutSnapshot(commit: string, targetPath: string, options: CheckoutOptions = {}): Promise<void> {
    checkOptions(options, ['force', 'signal'], 'checkoutSnapshot');
    const { force = false, signal } = options;
    const target = givenPath(targetPath);
    const history = this.historyOf(commit);
    const tree = await history.treeOf(commit, { signal });
    await mkdir(target, { recursive: true });
    const folder = await realpath(target);
    const isRepository = isAt(join(folder, '.git'));
    if (isRepository && !force)
      throw new TypeError(
        'The directory is a repository of its own: merge a version into it with executeMerge, or use force to delete the repository',
      );
    if (!force && isInGitDirectory(folder))
      throw new TypeError(
        'The directory is part of a repository’s git directory, which would be lost: only force deletes it',
      );
    const wanted = new Map<string, { readonly mode: TreeMode; readonly id: ObjectId }>();
    const directories = new Set<string>();
    for await (const { path, mode, id } of history.list(tree, { signal })) {
      wanted.set(path, { mode, id });
      for (let at = mode === '160000' ? path : dirname(path); !directories.has(at); at = dirname(at))
        directories.add(at);
    }
    const remove: WorktreeChange[] = [];
    const gone = (path: string, name?: RawName): void =>
      void remove.push({ path, name, mode: undefined, body: async () => new Uint8Array() });
    if (isRepository) gone('.git');
    const cache = this.#cacheOf(folder, history);
    const record = cache.record();
    const submodules = new Set([...wanted].filter(([, { mode }]) => mode === '160000').map(([path]) => path));
    const within: string[] = [];
    const onUnrepresentable = ({ path }: Unrepresentable, name: RawName): void => {
      if (String(name).toLowerCase() === '.git') within.push(dirname(path));
      // readWorktree does not list the contents of such a directory.
      else if (!force && holdsRepository(join(folder, dirname(path)), name)) within.push(path);
      gone(path, name);
    };
    const onDirectory = (path: string): void => {
      if (!directories.has(path)) gone(path);
    };
    const reading = { cache, submodules, onUnrepresentable, onDirectory, asOwner: true, signal };
    for await (const file of readWorktree(folder, reading)) {
      const entry = wanted.get(file.path);
      // A submodule stays in `wanted`: if its contents are removed, its directory has to be created again.
      if (file.mode === '160000') continue;
      if (entry === undefined) {
        if (basename(file.path) === 'HEAD' && isGitDirectory(join(folder, dirname(file.path))))
          within.push(dirname(file.path));
        gone(file.path);
      } else if (entry.mode === file.mode && entry.id === (file.known ?? history.blobId(file.body as Uint8Array))) {
        wanted.delete(file.path);
        record.put(file, entry.id, this.#clock());
      }
    }
    if (within.length > 0 && !force)
      throw new TypeError(
        `Repositories lie in the directory: ${listOf(within.sort())} (or directories that cannot be read). Only force deletes them`,
      );
    record.keep();
    const write = [...wanted].map(([path, { mode, id }]) => ({
      path,
      mode,
      body: async () => (mode === '160000' ? new Uint8Array() : history.readBlob(id, { signal })),
    }));
    await writeWorktree(folder, [...remove, ...write], signal);
  }

  /** Undoes all changes in a directory since a version: the same as {@link checkoutSnapshot}. */
  rollback(commit: string, worktreePath: string, options?: CheckoutOptions): Promise<void> {
    return this.checkoutSnapshot(commit, worktreePath, options);
  }

  /** Returns the paths that differ between two versions, with the ids before and after. Costs O(differences). */
  diffSnapshots(a: string, b: string, options?: VersionDiffOptions): Promise<VersionDiff> {
    return this.historyOf(a).diff(a, b, options);
  }

  /** Formats a diff as unified text, coloured by default. */
  formatDiffForDisplay(diff: FormattableDiff, options?: FormatVersionDiffOptions): Promise<string> {
    const [first] = [
      ...diff.added,
      ...diff.removed,
      ...diff.changed.map(({ after }) => after),
      ...(diff.renamed ?? []).map(({ after }) => after),
    ];
    return this.historyOf(first?.id).formatDiff(diff, { color: true, ...options });
  }

  /** Returns a version's tree, parents, message and the other fields of its commit. */
  readCommit(commit: string): Promise<Commit> {
    return this.historyOf(commit).show(commit);
  }

  /**
   * Merges a version into the branch that is checked out in the user's repository, with the user's git (2.38 or newer).
   * Either the merge is complete, or the repository stays as it was, for example because of uncommitted changes, a
   * conflict, an error, a lock or another unfinished operation. After a crash this holds once the next call or
   * `recoverMerge` has recovered the repository. No hook, merge driver or fsmonitor of the repository runs, and a
   * filter only with `allowFilters`.
   * @throws HistoryError `not-found` if the version does not exist, `hostile`, `corrupt`, `too-large`; TypeError for an
   *   empty path; Error if git is missing or too old, or as for `recoverMerge` if an interrupted merge could not be
   *   recovered; what the host throws; the reason of the signal
   */
  async executeMerge(sourceRepoPath: string, finalCommit: string, options?: MergeBackOptions): Promise<MergeResult> {
    checkOptions(options, ['author', 'message', 'allowFilters', 'signal'], 'executeMerge');
    const author = this.#options.author;
    return executeMerge(this.historyOf(finalCommit), sourceRepoPath, finalCommit, { author, ...options });
  }

  /**
   * Stops the processes that read onboarded repositories. Versions in memory are lost, and the instance cannot be used
   * any more.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { repository } of this.#histories.values()) repository.close();
    this.#histories.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #of(format: ObjectFormat) {
    if (this.#isClosed) throw new TypeError('The versions of this HostHistory have been closed');
    let found = this.#histories.get(format);
    if (found === undefined) {
      const { repository: own = new MemoryRepository(format), author, clock, maxEntries } = this.#options;
      if (own.format !== format)
        throw new HistoryError(
          'wrong-type',
          `The repository of this HostHistory uses ${own.format}, and the given repository ${format}`,
        );
      const repository = new LinkedRepository(own);
      const history = new History({ repository, author, clock, primitives: nodePrimitives, maxEntries });
      found = { repository, history };
      this.#histories.set(format, found);
    }
    return found;
  }

  async #link({ git, format, commonDirectory }: GitRepository) {
    const found = this.#of(format);
    const { dev, ino, birthtimeNs } = await stat(commonDirectory, { bigint: true });
    // A linked work tree may be deleted while the repository stays.
    const there = new Git(commonDirectory, { ...git.environment, GIT_DIR: commonDirectory });
    found.repository.link(
      commonDirectory,
      `${dev} ${ino} ${birthtimeNs}`,
      () => new GitObjects(there, format, this.#options.maxObjectBytes),
    );
    return found;
  }

  /**
   * Refuses or reports the entries of a version that cannot be represented or have a mode that git no longer writes.
   * Returns the version if it is a commit without such entries, otherwise a new commit.
   */
  async #accepted(
    history: History,
    { entries, unrepresentable, unusual = [] }: Listing & { readonly unusual?: readonly Unrepresentable[] },
    version: ObjectId,
    parent: ObjectId | undefined,
    { skipUnrepresentable, onProgress, signal }: OnboardOptions,
  ): Promise<ObjectId> {
    const told = [...unrepresentable, ...unusual];
    if (skipUnrepresentable === undefined) refuse(told);
    for (const { path, reason } of told) skipUnrepresentable?.({ path, reason });
    onProgress?.({ done: entries.length, total: entries.length });
    const isWhole = told.length === 0;
    if (version === parent && isWhole) return version;
    const edits: TreeEdits = new Map(entries.map(({ path, mode, id }) => [path, { mode, id }]));
    const tree = isWhole ? version : await history.editTree(undefined, edits, { signal });
    const message = version === parent ? 'Without what cannot be held' : AS_THEY_LIE;
    return history.commitTree(tree, { message, parents: parent === undefined ? [] : [parent], signal });
  }

  async #onboardFolder(folder: string, options: OnboardOptions): Promise<ObjectId> {
    const refused: Unrepresentable[] = [];
    const onUnrepresentable = options.skipUnrepresentable ?? ((found: Unrepresentable) => void refused.push(found));
    const tree = await this.#treeOf(folder, undefined, { ...options, onUnrepresentable });
    refuse(refused);
    return this.historyOf().commitTree(tree, { message: AS_THEY_LIE, parents: [], signal: options.signal });
  }

  /** Stores the files of a directory and returns their tree. */
  async #treeOf(
    folder: string,
    parent: string | undefined,
    { includeIgnored = false, onUnrepresentable, onProgress, signal }: ReadFolderOptions,
  ): Promise<ObjectId> {
    const history = this.historyOf(parent);
    const gone = new Map<string, PathEntry>();
    if (parent !== undefined) for await (const entry of history.list(parent, { signal })) gone.set(entry.path, entry);
    const submodules = new Set([...gone.values()].filter(({ mode }) => mode === '160000').map(({ path }) => path));
    // Only a repository's work tree can have a checked-out submodule.
    const isCheckedOut = (path: string): boolean => existsSync(join(folder, path, '.git'));
    const checkedOut = isCheckedOut('') ? new Set([...submodules].filter(isCheckedOut)) : NONE;
    const isIgnored = includeIgnored ? () => false : leavingOut(await ignoredPaths(folder, signal), gone);
    const without = (path: string): boolean => isBeneath(checkedOut, path) || isIgnored(path);
    const cache = this.#cacheOf(folder, history);
    const record = cache.record();
    const edits = new Map<string, { mode: TreeMode; id: ObjectId } | undefined>();
    let batch: NamedObject[] = [];
    let bytes = 0;
    let done = 0;
    const count = history.countEntries();
    const onDirectory = (path: string): void => count.add(1, path.length);
    const reading = { cache, without, submodules, onUnrepresentable, onDirectory, signal };
    for await (const file of readWorktree(folder, reading)) {
      const { path, mode, known, body } = file;
      count.add(1, path.length);
      const before = gone.get(path);
      gone.delete(path);
      if (mode === '160000') continue;
      if (isBeneath(submodules, path)) {
        onUnrepresentable({ path, reason: 'a submodule is there' });
        continue;
      }
      const id = known ?? history.blobId(body as Uint8Array);
      record.put(file, id, this.#clock());
      if (before?.id !== id || before.mode !== mode) edits.set(path, { mode, id });
      if (before?.id !== id && body !== undefined) {
        batch.push({ type: 'blob', body, id });
        bytes += body.length;
      }
      if (bytes > BATCH_BYTES) {
        await history.repository.write(batch, { signal });
        batch = [];
        bytes = 0;
      }
      if (++done % FILES_PER_PROGRESS === 0) onProgress?.({ done, total: undefined });
    }
    await history.repository.write(batch, { signal });
    record.keep();
    for (const path of gone.keys()) edits.set(path, undefined);
    onProgress?.({ done, total: done });
    return history.editTree(parent, edits, { signal });
  }

  #cacheOf(folder: string, { repository: { format } }: History): WorktreeCache {
    const key = `${format} ${folder}`;
    const cache = this.#caches.get(key) ?? new WorktreeCache();
    this.#caches.delete(key);
    this.#caches.set(key, cache);
    for (const oldest of this.#caches.keys()) {
      if (this.#caches.size <= MAX_CACHED_WORK_TREES) break;
      this.#caches.delete(oldest);
    }
    return cache;
  }
}

/** Reports whether a path lies within one of the directories, at any depth. */
function isBeneath(places: ReadonlySet<string>, path: string): boolean {
  if (places.size === 0) return false;
  for (const directory of directoriesAbove(path)) if (places.has(directory)) return true;
  return false;
}

interface ReadFolderOptions extends Pick<OnboardOptions, 'includeIgnored' | 'onProgress' | 'signal'> {
  readonly onUnrepresentable: (found: Unrepresentable) => void;
}

/**
 * Returns a filter that leaves out ignored paths, except paths that the parent has and the directories that lead to
 * them.
 */
function leavingOut(
  isIgnored: (path: string) => boolean,
  parent: ReadonlyMap<string, PathEntry>,
): (path: string) => boolean {
  const held = new Set(parent.keys());
  for (const path of parent.keys()) for (const directory of directoriesAbove(path)) held.add(directory);
  return (path) => isIgnored(path) && !held.has(path);
}

function refuse(found: readonly Unrepresentable[]): void {
  const [first] = found;
  if (first === undefined) return;
  const message = `${found.length} of the names cannot be held, so nothing is taken in:\n${listed(found)}`;
  throw new HistoryError('hostile', message, { path: first.path });
}

/** Returns the format in which an id of that length is written. A branch name counts as SHA-1. */
function formatOf(version: string | undefined): ObjectFormat {
  return version !== undefined && isObjectId(version, 'sha256') ? 'sha256' : 'sha1';
}
