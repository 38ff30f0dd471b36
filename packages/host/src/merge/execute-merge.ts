import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { History, ObjectId, Person } from '@scratchfs/history';
import { autoRunFiles } from '../auto-run-files.js';
import { withoutDrivers } from '../git/drivers.js';
import { checkGitVersion, type Git, GitError, nulSeparated } from '../git/git.js';
import { findRepository, type GitRepository } from '../git/git-repository.js';
import { changedPaths, filteredPaths, hiddenChanges, inTheWay, whyInTheWay } from './changed-paths.js';
import { letPacksGo } from './kept-packs.js';
import { newMergeId } from './plan.js';
import { Quarantine } from './quarantine.js';
import { AT_WORK, applyCommit, MergeAtWork, type Recovery, recoverStage } from './stage.js';
import { branchOf, listOf, reasonAgainst } from './work-tree-state.js';

export interface MergeBackOptions {
  /** Who merges, where the user's git does not know who he is. Default: `scratchfs <scratchfs@localhost>`. */
  readonly author?: Person | undefined;
  /** Of a merge commit. Default: `Merge`, with the first line of the version's message, cut after 200 characters. */
  readonly message?: string | undefined;
  /** Merge also where changed paths have a filter (such as LFS), and run it. Default false: refuse. */
  readonly allowFilters?: boolean | undefined;
  /** Until the repository begins to change. */
  readonly signal?: AbortSignal | undefined;
}

/** What a merge into the user's repository came to. Without success everything there is as it was. */
export interface MergeResult {
  readonly success: boolean;
  /** Whether both sides changed the same. */
  readonly conflict: boolean;
  /** For people, in whole sentences. */
  readonly message: string;
  /** Sorted. */
  readonly conflictingPaths: readonly string[];
  /** Files among those added and modified that other programs run or obey by themselves (`.envrc`, hooks, editor tasks): to be read. */
  readonly autoRun: readonly string[];
  /** Where the branch is now: a merge commit, or the version itself where nothing else had happened. */
  readonly mergeCommit: ObjectId | undefined;
}

/** Of the line that tells a version in the reflog, in UTF-16 units: programs take only so much as an argument. */
const LONGEST_SUBJECT = 200;

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
      return refused('This is no git repository (or only part of one), so nothing can be merged into it.');
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
    return await mergeInto(repository, git, quarantine, { branch, version, message }, options);
  } catch (error) {
    // What git says no to is an answer, not an accident of ours.
    if (error instanceof GitError) return refused(`${error.message}. Nothing was changed.`);
    throw error;
  } finally {
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true });
  }
}

/**
 * Puts a repository right in which a merge was cut off together with everything that it had started (after a crash of the
 * machine, say): {@link executeMerge} does it too. What the files were before is back, or the merge is complete. What somebody has
 * made or changed since stays: `nothing` where he has staged or committed it already.
 * @param options whether filters may run, as they did in that merge
 * @throws Error where that merge is still at work, where it had filters and is to be undone without `allowFilters`, where no merge
 * can have left what lies there, where nothing may be written, and where not all of it could be put right: what is needed for that
 * stays, for the next time, and where that cannot help either, the message says what to do by hand
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
  const theirs = await quarantine.withUnrepresentable(version, base, identity, signal);
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

/** The first line of a message, cut where it is long, between characters. */
function subjectOf(message: string): string {
  const line = message.split('\n', 1)[0] as string;
  if (line.length <= LONGEST_SUBJECT) return line;
  return `${line.slice(0, LONGEST_SUBJECT - 1).replace(/[\ud800-\udbff]$/, '')}…`;
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
  return merged(
    `Merged: ${count} ${count === 1 ? 'path' : 'paths'} changed.`,
    target,
    autoRunFiles([...paths.added, ...paths.modified].sort()),
  );
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

/** Who commits: whom the user's git says, or the author of the call. */
async function identityFor(git: Git, author: Person | undefined, signal: AbortSignal | undefined): Promise<Git> {
  for (const name of ['user.name', 'user.email']) {
    const { exitCode, stdout } = await git.run(['config', '--get', name], { accept: [0, 1], signal });
    if (exitCode === 0 && stdout.toString('utf8').trim() !== '') continue;
    const { name: person, email } = author ?? { name: 'scratchfs', email: 'scratchfs@localhost' };
    return git.with({
      GIT_AUTHOR_NAME: person,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: person,
      GIT_COMMITTER_EMAIL: email,
    });
  }
  return git;
}

/** git may be killed, or complain, after it has done so. */
async function moveBranch(git: Git, log: string, branch: string, target: string, head: string): Promise<void> {
  try {
    await git.run(['update-ref', '-m', log, branch, target, head]);
  } catch (error) {
    if ((await git.text(['rev-parse', branch])) !== target) throw error;
  }
}
