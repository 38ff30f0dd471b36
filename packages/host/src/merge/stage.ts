import { spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { link, mkdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { quote } from '@scratchfs/core';
import { type Git, nulEnded } from '../git/git.js';
import type { GitRepository } from '../git/git-repository.js';
import { isCode, isUnwritable } from '../host-error.js';
import { byHand, isLost, missingIn } from './by-hand.js';
import { type ChangedPaths, whyInTheWay } from './changed-paths.js';
import { DURABLE, settle, writeDurably } from './durable.js';
import { CHANGED, FINISHER, IN_THE_WAY, LOCKED, THEY_ARE } from './finisher.js';
import { currentHost } from './host-identity.js';
import { keepFiles } from './kept-files.js';
import { letPacksGo } from './kept-packs.js';
import { ATTRIBUTES, attributesOf, lineEndsOf, settingsFor } from './line-ends.js';
import { KEPT, NAME, type Plan, planIn } from './plan.js';
import { acquireProcessLock } from './process-lock.js';
import { refLocksOf, removeLeftRefLocks } from './ref-locks.js';
import { draftNameOf, drop, holdsLock, release, removeStaleStages } from './stale-stages.js';
import { listsOf, pathsToUndo } from './undo-lists.js';
import { branchOf, HALF_DONE } from './work-tree-state.js';
import { mayBeAtWork, workersEnd } from './workers.js';

export const AT_WORK = 'Another merge is being brought into the repository';

/** Thrown if the stage of a merge must not be changed now, because that merge may still be running. */
export class MergeAtWork extends Error {
  constructor() {
    super(AT_WORK);
  }
}

const UNWRITABLE = "Nothing may be written in the repository's git directory";

/** Outcome of recovering an interrupted merge, or an interrupted `applyChanges`. */
export type Recovery = 'nothing' | 'undone' | 'completed';

/** Outcome of a change of the repository. */
export type Applied = { readonly done: true } | { readonly done: false; readonly why: string };

/**
 * Moves branch, index and work tree from one commit to another, completely or not at all. The repository's own
 * `index.lock` keeps out other git processes that change the index. Once it is held, the call checks again that commit
 * and branch are still checked out and that no other operation is unfinished. If the change is refused or undone,
 * returns the reason.
 * @throws what git and the host throw; Error if a change could not be undone, which leaves the stage for {@link
 *   recoverStage}
 */
export async function applyCommit(
  repository: GitRepository & { readonly workTree: string },
  git: Git,
  {
    id,
    branch,
    from,
    to,
    message,
    paths,
    filters = false,
  }: {
    id: string;
    branch: string;
    from: string;
    to: string;
    message: string;
    paths: ChangedPaths;
    filters?: boolean;
  },
): Promise<Applied> {
  const { gitDirectory } = repository;
  const plan: Plan = {
    id,
    old: from,
    new: to,
    message,
    branch,
    filters,
    lineEnds: await lineEndsOf(git),
    place: currentHost(),
  };
  const ownLock: OwnLock = {};
  try {
    return (await prepare(repository, plan, paths, ownLock)) ?? (await carryOut(repository, git, plan));
  } finally {
    // The stage may have either name by now. The lock keeps all other processes from it while this call runs.
    for (const name of [NAME, draftNameOf(plan.id)])
      if (ownLock.name !== undefined) rmSync(join(gitDirectory, name, ownLock.name), { force: true });
  }
}

/** Name of the call's lock, once it has one. */
interface OwnLock {
  name?: string | undefined;
}

/**
 * Prepares the stage of a plan, with everything that undoing it needs. Returns the reason if another merge, another
 * process or the disk prevents that.
 */
async function prepare(
  repository: GitRepository & { readonly workTree: string },
  plan: Plan,
  paths: ChangedPaths,
  ownLock: OwnLock,
): Promise<Applied | undefined> {
  const { gitDirectory } = repository;
  const stage = join(gitDirectory, NAME);
  // The name identifies the draft's owner, so an abandoned draft without a complete plan can be told from one that is
  // being written.
  const draft = join(gitDirectory, draftNameOf(plan.id));
  let isStaged = false;
  try {
    await mkdir(draft);
    await writeDurably(join(draft, 'plan'), JSON.stringify(plan));
    await writeDurably(join(draft, 'lock'), plan.id);
    await writeDurably(join(draft, ATTRIBUTES), await attributesOf(repository.git, repository.workTree));
    const { restored, ...lists } = await listsOf(repository, paths);
    // Kept files are named by numbers. Paths would need directories in the stage, in whose place an attacker's stage
    // could have links. The list has each number with its path.
    const numbered = restored.map((path, number) => `${number}/${path}`);
    for (const [name, list] of Object.entries({ ...lists, restored: numbered }))
      await writeDurably(join(draft, name), nulEnded(list));
    const gone = await keepFiles(repository.workTree, join(draft, KEPT), restored);
    if (gone !== undefined) {
      await rm(draft, { recursive: true, force: true });
      return { done: false, why: `Another process has just removed ${quote(gone)}.` };
    }
    ownLock.name = await acquireProcessLock(draft, plan.id);
    await settle(draft);
    // The rename cannot replace another stage: only one can exist.
    await rename(draft, stage);
    isStaged = true;
    await settle(gitDirectory);
    return undefined;
  } catch (error) {
    if (isStaged) await drop(gitDirectory, plan);
    else await rm(draft, { recursive: true, force: true });
    if (isCode(error, 'ENOTEMPTY', 'EEXIST')) return { done: false, why: `${AT_WORK}.` };
    if (isCode(error, 'ENOSPC', 'EDQUOT')) return { done: false, why: 'The disk is full.' };
    if (isUnwritable(error)) return { done: false, why: `${UNWRITABLE}.` };
    throw error;
  }
}

/** Runs the finisher on the plan of a stage. */
async function carryOut(
  repository: GitRepository & { readonly workTree: string },
  git: Git,
  plan: Plan,
): Promise<Applied> {
  const { gitDirectory } = repository;
  const stage = join(gitDirectory, NAME);
  const { exitCode, said } = await finish('apply', repository, git, plan);
  if (exitCode === LOCKED) {
    await drop(gitDirectory, plan);
    return { done: false, why: 'The repository is locked: another git is at work in it.' };
  }
  if (exitCode === CHANGED)
    return {
      done: false,
      why: 'Another process has just committed, checked out another branch or begun something else there.',
    };
  if (exitCode === IN_THE_WAY) return { done: false, why: whyInTheWay(foundInTheWay(said)) };
  await removeStaleStages(gitDirectory);
  const isLeft = planIn(stage)?.id === plan.id;
  // A finisher that was killed has no exit code, so the branch decides.
  const mayHaveEnded =
    exitCode === null && (await repository.git.text(['rev-parse', plan.branch as string])) === plan.new;
  if (!isLeft && (exitCode === 0 || mayHaveEnded)) return { done: true };
  // The finisher was killed, perhaps without its child processes, or it could not undo everything.
  if (isLeft) await workersEnd(stage, plan);
  if (isLeft && (await putRight(repository, git, plan, plan.filters === true)) === 'completed') return { done: true };
  return { done: false, why: said === '' ? 'git could not change the files.' : `git says ${quote(said)}.` };
}

/**
 * Restores a repository in which a merge was interrupted, or completes the merge if the branch has already moved. If
 * the user has continued from what the merge left, keeps that: returns `completed` if the branch contains the merge's
 * new commit, else `nothing`.
 * @param filters whether `git` runs filters
 * @throws Error if that merge is still running, if it must be undone and had filters that `git` does not run, if git
 *   fails, if the stage cannot be from a merge, if the repository is not writable, or if it can only be recovered by
 *   hand, with instructions
 */
export async function recoverStage(repository: GitRepository, git: Git, filters = false): Promise<Recovery> {
  try {
    return await recoverIn(repository, git, filters);
  } catch (error) {
    throw isUnwritable(error) ? new Error(UNWRITABLE, { cause: error }) : error;
  }
}

async function recoverIn(repository: GitRepository, git: Git, filters: boolean): Promise<Recovery> {
  const { gitDirectory, workTree } = repository;
  const stage = join(gitDirectory, NAME);
  await removeStaleStages(gitDirectory);
  letPacksGo(repository);
  const plan = planIn(stage);
  if (plan === undefined || workTree === undefined) return 'nothing';
  const ownLock = await acquireProcessLock(stage, plan.id);
  try {
    // The previous owner of the lock may have recovered the merge concurrently, and the next merge may have begun.
    const now = planIn(stage);
    if (now === undefined) return 'nothing';
    if (ownLock === undefined || now.id !== plan.id) throw new MergeAtWork();
    return await putRight({ ...repository, workTree }, git, plan, filters);
  } finally {
    if (ownLock !== undefined) rmSync(join(stage, ownLock), { force: true });
    // The process whose call left the merge may still run, so its packs are released by id.
    letPacksGo(repository, plan.id);
  }
}

/** Recovers a plan that the caller has locked. */
async function putRight(
  repository: GitRepository & { readonly workTree: string },
  git: Git,
  plan: Plan,
  filters: boolean,
): Promise<Recovery> {
  const stage = join(repository.gitDirectory, NAME);
  if (mayBeAtWork(stage, plan)) throw new MergeAtWork();
  try {
    return await goOn(repository, git, plan, filters);
  } catch (error) {
    // The user, who had removed the lock, does not have to remove it again.
    if (wasUnlocked(stage)) await release(repository.gitDirectory, plan);
    if (planIn(stage)?.id === plan.id && (await isLost(repository, plan)))
      throw await byHand(stage, plan, `git has lost ${plan.new}, which it was bringing`);
    throw error;
  }
}

async function goOn(
  repository: GitRepository & { readonly workTree: string },
  git: Git,
  plan: Plan,
  filters: boolean,
): Promise<Recovery> {
  const { gitDirectory } = repository;
  const stage = join(gitDirectory, NAME);
  if (!existsSync(join(stage, 'begun'))) {
    await release(gitDirectory, plan);
    await drop(gitDirectory, plan);
    return 'undone';
  }
  await lockAgain(gitDirectory, stage, plan);
  // Without the index lock, another git may have been at work: a reference lock may be that of a commit in progress.
  const refLock = wasUnlocked(stage) ? (await refLocksOf(repository))[0] : undefined;
  if (refLock !== undefined)
    throw notPutRight(
      `The repository is locked (${basename(refLock.path)}): another git is at work in it, or was killed`,
    );
  const hasMovedHere = await hasMoved(repository, plan);
  if (!hasMovedHere) await completeLists(stage, plan);
  if (await isSomebodys(repository, stage, plan, hasMovedHere)) {
    const moved = await hasMoved(repository, plan, plan.branch);
    await release(gitDirectory, plan);
    await drop(gitDirectory, plan);
    return moved ? 'completed' : 'nothing';
  }
  const mode = hasMovedHere ? 'forward' : 'undo';
  // A plan may come from an untrusted person, so the caller decides whether filters may run.
  if (mode === 'undo' && plan.filters === true && !filters)
    throw new Error('An interrupted merge ran filters: recover with allowFilters');
  // A git that was killed with the finisher may have left this lock. The repository's own lock stays until the end.
  await rm(join(stage, 'index.lock'), { force: true });
  const moving = statSync(join(stage, 'moving'), { throwIfNoEntry: false });
  if (moving !== undefined && !wasUnlocked(stage)) await removeLeftRefLocks(repository, moving.mtimeMs);
  const { said } = await finish(mode, repository, git, plan);
  if (planIn(stage)?.id === plan.id) throw notPutRight(said);
  return mode === 'undo' ? 'undone' : 'completed';
}

/** Name of the file that marks a stage whose index lock was removed by the user. */
const UNLOCKED = 'unlocked';

/**
 * Takes the index lock again if the user has removed it: the repository stays the same from one check to the next only
 * while the lock is held. Records the removal first. If another git process holds the lock, it stays with that process:
 * the finisher then refuses, and recovery can be tried again later.
 */
async function lockAgain(gitDirectory: string, stage: string, plan: Plan): Promise<void> {
  if (await holdsLock(gitDirectory, plan)) return;
  if (!wasUnlocked(stage)) await writeDurably(join(stage, UNLOCKED), '');
  await link(join(stage, 'lock'), join(gitDirectory, 'index.lock')).catch(() => undefined);
}

function wasUnlocked(stage: string): boolean {
  return existsSync(join(stage, UNLOCKED));
}

/**
 * Creates the list `modes`, which stages of older versions of this program lack. @throws Error with instructions for
 * the user if a file is missing without which the merge cannot be undone
 */
async function completeLists(stage: string, plan: Plan): Promise<void> {
  const missing = missingIn(stage);
  if (missing.length > 0) throw await byHand(stage, plan, `its stage has no ${missing.join(', ')}`);
  if (!existsSync(join(stage, 'modes'))) await writeDurably(join(stage, 'modes'), '');
}

/**
 * Reports whether the user has removed the lock and gone on since, by checking out another commit or branch, or by
 * staging or committing what the merge had written before its branch moved. Index and files are the user's then. Paths
 * staged exactly as the merge staged them do not count, whatever else was committed; a renamed branch, or another
 * branch at the same commit, does not count either. While the lock is held, `git add`, `git commit` and `git checkout`
 * fail.
 */
async function isSomebodys(
  repository: GitRepository,
  stage: string,
  plan: Plan,
  hasMovedHere: boolean,
): Promise<boolean> {
  if (plan.branch === undefined || !wasUnlocked(stage)) return false;
  const head = await repository.git.text(['rev-parse', 'HEAD']);
  if (head !== plan.old && ((await branchOf(repository)) ?? 'HEAD') !== plan.branch) return true;
  if (hasMovedHere) return false;
  const args = [
    '--cached',
    '--name-only',
    '--no-renames',
    '--ignore-submodules=none',
    '--ita-invisible-in-index',
    '-z',
  ];
  const paths = await pathsToUndo(stage);
  const isStagedBeyond = async (commit: string): Promise<boolean> => {
    const staged = new Set(await repository.git.items(['diff-index', ...args, commit]));
    return paths.some((path) => staged.has(path));
  };
  if (!(await isStagedBeyond(plan.old))) return false;
  if (!existsSync(join(stage, 'indexed')) || (await isStagedBeyond(plan.new))) return true;
  const committed = new Set(
    await repository.git.items(['diff-tree', '-r', '--name-only', '--no-renames', '-z', plan.old, head]),
  );
  return paths.some((path) => committed.has(path));
}

/**
 * Reports whether a branch, by default the one at `HEAD`, contains the plan's new commit.
 * @throws Error if git cannot tell: a wrong guess would leave the merge half done
 */
async function hasMoved(repository: GitRepository, plan: Plan, branch = 'HEAD'): Promise<boolean> {
  const { git } = repository;
  // The user may have deleted or renamed the branch and checked out another one.
  if (branch !== 'HEAD') {
    const { exitCode: isThere } = await git.run(['rev-parse', '-q', '--verify', branch], { accept: [0, 1] });
    if (isThere !== 0) return false;
  }
  const args = ['merge-base', '--is-ancestor', plan.new, branch];
  const { exitCode } = await git.run(args, { accept: [0, 1] }).catch(async (cause: Error) => {
    // A lost commit counts as in no branch.
    if (await isLost(repository, plan)) return { exitCode: 1 };
    throw notPutRight(cause.message, cause);
  });
  return exitCode === 0;
}

function notPutRight(why: string, cause?: Error): Error {
  return new Error(`What a merge left behind could not be put right: ${quote(why)}`, { cause });
}

/** Returns the paths that the finisher printed after git's own output. */
function foundInTheWay(said: string): string[] {
  const list = said.slice(said.lastIndexOf(`${THEY_ARE}\n`) + THEY_ARE.length + 1);
  return [...new Set(list.split('\0').filter((path) => path !== ''))];
}

/** Runs the finisher in a session of its own. Returns its exit code, which is null if it was killed, and its output. */
async function finish(
  mode: 'apply' | 'undo' | 'forward',
  { gitDirectory, workTree }: GitRepository & { readonly workTree: string },
  git: Git,
  plan: Plan,
): Promise<{ readonly exitCode: number | null; readonly said: string }> {
  const stage = join(gitDirectory, NAME);
  // A file, not a pipe, because the reading process may be killed. The finisher removes it with the stage; it is read
  // through its descriptor.
  const log = join(stage, 'log');
  // An existing file may be a hard link to a file of the user.
  await rm(log, { force: true });
  const output = openSync(log, 'wx+');
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      const { id, old, new: next, message, branch = 'HEAD' } = plan;
      const halfDone = HALF_DONE.map(([name]) => name);
      const args = ['-c', FINISHER, NAME, id, mode, stage, gitDirectory, old, next, message, branch, ...halfDone];
      const lineEnds = plan.lineEnds === undefined ? [] : settingsFor(plan.lineEnds, stage);
      // Keeping a file by a hard link changes its ctime, and git would read the file again.
      const asKept = [['core.trustctime', 'false']] as const;
      const env = git.with({}, [...DURABLE, ...lineEnds, ...asKept, ['scratchfs.merge', plan.id]]).env();
      const child = spawn('sh', args, { cwd: workTree, env, detached: true, stdio: ['ignore', output, output] });
      child.on('error', reject);
      child.on('exit', resolve);
    });
    const said = Buffer.alloc(fstatSync(output).size);
    readSync(output, said, 0, said.length, 0);
    return { exitCode, said: said.toString('utf8').trim() };
  } finally {
    closeSync(output);
  }
}
