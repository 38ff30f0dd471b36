import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { History, ObjectId, Person } from '@scratchfs/history';
import { autoRunFiles } from '../auto-run-files.js';
import { withoutDrivers } from '../git/drivers.js';
import { checkGitVersion, type Git, GitError, nulSeparated } from '../git/git.js';
import { findRepository, type GitRepository } from '../git/git-repository.js';
import { linksIn } from '../links-around.js';
import { changedPaths, filteredPaths, hiddenChanges, inTheWay, whyInTheWay } from './changed-paths.js';
import { identityFor } from './identity.js';
import { letPacksGo } from './kept-packs.js';
import { newMergeId } from './plan.js';
import { Quarantine } from './quarantine.js';
import { AT_WORK, applyCommit, MergeAtWork, type Recovery, recoverStage } from './stage.js';
import { branchOf, listOf, reasonAgainst } from './work-tree-state.js';

export interface MergeBackOptions {
  /**
   * Author of the merge if the user's git has no name or email. Default: the author of the `HostHistory`, or else
   * `scratchfs <scratchfs@localhost>`.
   */
  readonly author?: Person | undefined;
  /**
   * Message of a merge commit. Default: `Merge: ` and the first line of the version's message, cut to 200 characters.
   */
  readonly message?: string | undefined;
  /** Merge although changed paths have a filter (such as LFS), and run it. Default false: refuse. */
  readonly allowFilters?: boolean | undefined;
  /** Cancels the call until the repository begins to change. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Result of a merge into the user's repository. If it did not succeed, the merge has left files, index and branches as
 * they were.
 */
export interface MergeResult {
  readonly success: boolean;
  /** True if changes of the two sides conflict. */
  readonly conflict: boolean;
  /** Text to show to a person, in complete sentences. */
  readonly message: string;
  /** Conflicting paths, sorted. */
  readonly conflictingPaths: readonly string[];
  /**
   * Added or modified files that other programs run or obey on their own (`.envrc`, hooks, editor tasks), for the user
   * to review. Links in the work tree count as for `applyChanges`.
   */
  readonly autoRun: readonly string[];
  /**
   * Commit of the branch after the merge; undefined without success. After a fast-forward this is the version, or a
   * commit on it that adds the paths that scratchfs cannot represent.
   */
  readonly mergeCommit: ObjectId | undefined;
}

/**
 * Maximum length of a version's subject in the reflog and in the message of a merge, in UTF-16 units: the size of a
 * program's arguments is limited.
 */
const MAX_SUBJECT_UNITS = 200;

function refused(message: string, conflictingPaths: readonly string[] = []): MergeResult {
  const conflict = conflictingPaths.length > 0;
  return Object.freeze({ success: false, conflict, message, conflictingPaths, autoRun: [], mergeCommit: undefined });
}

function merged(message: string, mergeCommit: ObjectId, autoRun: readonly string[] = []): MergeResult {
  return Object.freeze({ success: true, conflict: false, message, conflictingPaths: [], autoRun, mergeCommit });
}

export async function executeMerge(
  history: History,
  sourceRepoPath: string,
  finalCommit: string,
  options: MergeBackOptions = {},
): Promise<MergeResult> {
  const { signal } = options;
  const { id: version, message } = await history.show(finalCommit, { signal });
  let scratch: string | undefined;
  try {
    const repository = await findRepository(sourceRepoPath);
    if (repository === undefined)
      return refused('This is not a complete git repository, so nothing can be merged into it.');
    if (repository.format !== history.repository.format)
      return refused(`The repository uses ${repository.format}, and the version ${history.repository.format}.`);
    await checkGitVersion(repository.git);
    scratch = await mkdtemp(join(tmpdir(), 'scratchfs-'));
    const git = await withoutDrivers(repository.git, { filters: options.allowFilters === true });
    try {
      await recoverStage(repository, git, options.allowFilters);
    } catch (error) {
      if (error instanceof MergeAtWork) return refused(`${error.message}. Nothing was changed.`);
      throw error;
    }
    const branch = await branchOf(repository, signal);
    if (branch === undefined) return refused('HEAD is detached: check out the branch that is to get the changes.');
    const reason = await reasonAgainst(repository, branch, git, signal);
    if (reason !== undefined) return refused(reason);
    const quarantine = await Quarantine.open(repository, git, scratch);
    await quarantine.take(history, version, signal);
    return await mergeInto(history, repository, git, quarantine, { branch, version, message }, options);
  } catch (error) {
    // A refusal by git is a result, not a failure of this function.
    if (error instanceof GitError) return refused(`${error.message}. Nothing was changed.`);
    throw error;
  } finally {
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true });
  }
}

/**
 * Recovers a repository in which a merge was interrupted together with all processes that it had started, for example
 * by a crash of the machine; {@link executeMerge} does it too. Either the previous files are restored or the merge is
 * completed. Files that the user has created or changed since are kept; the result is `nothing` if the user has staged
 * or committed what the merge wrote before its branch moved.
 * @param options whether filters may run, as they did in that merge
 * @throws Error if that merge is still running, if it had filters and must be undone without `allowFilters`, if the
 *   files in git's directory cannot be from a merge, if the repository is not writable, if git fails, or if not
 *   everything could be recovered. In the last case the files needed for recovery are kept for the next call; if
 *   another call cannot help either, the message says what to do by hand
 */
export async function recoverMerge(
  sourceRepoPath: string,
  { allowFilters = false }: Pick<MergeBackOptions, 'allowFilters'> = {},
): Promise<Recovery> {
  const repository = await findRepository(sourceRepoPath);
  if (repository === undefined) return 'nothing';
  return recoverStage(repository, await withoutDrivers(repository.git, { filters: allowFilters }), allowFilters);
}

async function mergeInto(
  history: History,
  repository: GitRepository,
  git: Git,
  quarantine: Quarantine,
  { branch, version, message }: { branch: string; version: ObjectId; message: string },
  options: MergeBackOptions,
): Promise<MergeResult> {
  const { signal } = options;
  const head = (await git.text(['rev-parse', 'HEAD'], { signal })) as ObjectId;
  const common = await quarantine.git.run(['merge-base', head, version], { accept: [0, 1], signal });
  if (common.exitCode !== 0) {
    const why = repository.isShallow ? ' The repository is shallow: fetch more of its history.' : '';
    return refused(`The version and the branch have no common history, so they cannot be merged.${why}`);
  }
  const base = common.stdout.toString('utf8').trim();
  if (base === version) return merged('The branch has the version already.', head);
  const identity = await identityFor(git, options.author, signal);
  for (const side of base === head ? [version] : [version, head]) await quarantine.checkSize(history, side, signal);
  const theirs = await quarantine.withUnrepresentable(history, version, base, identity, signal);
  const subject = subjectOf(message);
  let target = theirs;
  if (base !== head) {
    const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', head, theirs];
    const outcome = await quarantine.git.run(args, { accept: [0, 1], signal });
    const [tree, ...conflicting] = nulSeparated(outcome.stdout).map(String);
    if (outcome.exitCode === 1) {
      const paths = [...new Set(conflicting)].sort();
      return refused(`The branch and the version changed the same: ${listOf(paths)}. Nothing was changed.`, paths);
    }
    const said = options.message ?? `Merge: ${subject}`;
    target = await quarantine.commit(identity, tree as string, [head, theirs], said, signal);
  }
  return bring(repository, git, quarantine, { branch, head, target, subject }, options);
}

/** Returns the first line of a message, cut between characters if it is too long. */
function subjectOf(message: string): string {
  const line = message.split('\n', 1)[0] as string;
  if (line.length <= MAX_SUBJECT_UNITS) return line;
  return `${line.slice(0, MAX_SUBJECT_UNITS - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

async function bring(
  repository: GitRepository,
  git: Git,
  quarantine: Quarantine,
  { branch, head, target, subject }: { branch: string; head: ObjectId; target: ObjectId; subject: string },
  { allowFilters = false, signal }: MergeBackOptions,
): Promise<MergeResult> {
  const { workTree } = repository;
  const paths = await changedPaths(quarantine.git, head, target, signal);
  if (workTree !== undefined) {
    const reason = await reasonAgainstPaths(
      { ...repository, workTree },
      git,
      quarantine,
      target,
      paths,
      allowFilters,
      signal,
    );
    if (reason !== undefined) return refused(reason);
  }
  const id = newMergeId();
  try {
    if (!(await quarantine.release(target, head, id, signal))) return refused(`${AT_WORK}. Nothing was changed.`);
    signal?.throwIfAborted();
    const log = `scratchfs: merge ${subject}`;
    if (workTree === undefined) await moveBranch(git, log, branch, target, head);
    else {
      const applied = await applyCommit({ ...repository, workTree }, git, {
        id,
        branch,
        from: head,
        to: target,
        message: log,
        paths,
        filters: allowFilters,
      });
      if (!applied.done) return refused(`${applied.why} Nothing was changed.`);
    }
  } finally {
    letPacksGo(repository, id);
  }
  const count = paths.added.length + paths.removed.length + paths.modified.length;
  const written = [...paths.added, ...paths.modified].sort();
  const links = workTree === undefined ? [] : await linksIn(workTree, written);
  return merged(`Merged: ${count} ${count === 1 ? 'path' : 'paths'} changed.`, target, autoRunFiles(written, links));
}

async function reasonAgainstPaths(
  { workTree }: GitRepository & { readonly workTree: string },
  git: Git,
  quarantine: Quarantine,
  target: string,
  paths: Awaited<ReturnType<typeof changedPaths>>,
  allowFilters: boolean,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const all = [...paths.added, ...paths.removed, ...paths.modified];
  const hidden = await hiddenChanges(git, workTree, all, signal);
  if (hidden.length > 0) return `git has been told not to look at what would change: ${listOf(hidden)}.`;
  const blocked = await inTheWay(workTree, paths);
  if (blocked.length > 0) return whyInTheWay(blocked);
  if (allowFilters) return undefined;
  const incoming = quarantine.git.with({ GIT_INDEX_FILE: join(quarantine.directory, 'index-of-target') });
  await incoming.run(['read-tree', target], { signal });
  const filtered = await filteredPaths(git, incoming, all, signal);
  if (filtered.length > 0)
    return `What would change goes through a filter (as with LFS): ${listOf(filtered)}. With allowFilters it is run.`;
  return undefined;
}

/**
 * Moves a branch. git may be killed, or report an error, after it has moved the branch, so the branch itself decides.
 */
async function moveBranch(git: Git, log: string, branch: string, target: string, head: string): Promise<void> {
  try {
    await git.run(['update-ref', '-m', log, branch, target, head]);
  } catch (error) {
    if ((await git.text(['rev-parse', branch])) !== target) throw error;
  }
}
