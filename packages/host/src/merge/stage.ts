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
import { claim } from './claims.js';
import { draftNameOf, drop, holdsLock, release, removeDrafts } from './drafts.js';
import { DURABLE, settle, writeDurably } from './durable.js';
import { CHANGED, FINISHER, IN_THE_WAY, LOCKED, THEY_ARE } from './finisher.js';
import { keepFiles } from './kept-files.js';
import { letPacksGo } from './kept-packs.js';
import { ATTRIBUTES, attributesOf, lineEndsOf, settingsFor } from './line-ends.js';
import { placeNow } from './place.js';
import { KEPT, NAME, type Plan, planIn } from './plan.js';
import { refLocksOf, removeLeftRefLocks } from './ref-locks.js';
import { listsOf, pathsToUndo } from './undo-lists.js';
import { branchOf, HALF_DONE } from './work-tree-state.js';
import { mayBeAtWork, workersEnd } from './workers.js';

export const AT_WORK = 'Another merge is being brought into the repository';

/** What was left is not to be touched now. */
export class MergeAtWork extends Error {
  constructor() {
    super(AT_WORK);
  }
}

const UNWRITABLE = "Nothing may be written in the repository's git directory";

/** What became of a merge that was cut off. */
export type Recovery = 'nothing' | 'undone' | 'completed';

/** How a change of the repository ended. */
export type Applied = { readonly done: true } | { readonly done: false; readonly why: string };

/**
 * Moves branch, index and work tree from one commit to another, completely or not at all. Until it has, the repository's own
 * `index.lock` keeps other gits out; once it is held, it is asked again whether that commit and branch are what is checked out and
 * nothing else is half done. Answers why not where it could not, with everything as it was.
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
    place: placeNow(),
  };
  const claimed: Claimed = {};
  try {
    return (await prepare(repository, plan, paths, claimed)) ?? (await carryOut(repository, git, plan));
  } finally {
    // Wherever it lies by now: as long as it does, this process keeps everybody else from the stage.
    for (const name of [NAME, draftNameOf(plan.id)])
      if (claimed.as !== undefined) rmSync(join(gitDirectory, name, claimed.as), { force: true });
  }
}

/** The claim of a call, as soon as it has one. */
interface Claimed {
  as?: string | undefined;
}

/** Lays out the stage of a plan, with all that undoing it needs; answers why not where it could not. */
async function prepare(
  repository: GitRepository & { readonly workTree: string },
  plan: Plan,
  paths: ChangedPaths,
  claimed: Claimed,
): Promise<Applied | undefined> {
  const { gitDirectory } = repository;
  const stage = join(gitDirectory, NAME);
  // Whose draft it is says its name, so that a draft without a whole plan can be told from one that is being written.
  const draft = join(gitDirectory, draftNameOf(plan.id));
  let isStaged = false;
  try {
    await mkdir(draft);
    await writeDurably(join(draft, 'plan'), JSON.stringify(plan));
    await writeDurably(join(draft, 'lock'), plan.id);
    await writeDurably(join(draft, ATTRIBUTES), await attributesOf(repository.git, repository.workTree));
    const { restored, ...lists } = await listsOf(repository, paths);
    // By the numbers of what is kept: paths would be names of directories in the stage, which a planted one could make links.
    const numbered = restored.map((path, number) => `${number}/${path}`);
    for (const [name, list] of Object.entries({ ...lists, restored: numbered }))
      await writeDurably(join(draft, name), nulEnded(list));
    const gone = await keepFiles(repository.workTree, join(draft, KEPT), restored);
    if (gone !== undefined) {
      await rm(draft, { recursive: true, force: true });
      return { done: false, why: `Somebody has just removed ${quote(gone)}.` };
    }
    claimed.as = await claim(draft, plan.id);
    await settle(draft);
    // Not onto another one: there can be one stage only.
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

/** Does what a stage is for. */
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
      why: 'Somebody has just committed, checked out another branch or begun something else there.',
    };
  if (exitCode === IN_THE_WAY) return { done: false, why: whyInTheWay(foundInTheWay(said)) };
  await removeDrafts(gitDirectory);
  const isLeft = planIn(stage)?.id === plan.id;
  // One that was killed says nothing.
  const mayHaveEnded =
    exitCode === null && (await repository.git.text(['rev-parse', plan.branch as string])) === plan.new;
  if (!isLeft && (exitCode === 0 || mayHaveEnded)) return { done: true };
  // The finisher itself was killed, perhaps without what it had started, or could not undo all of it.
  if (isLeft) await workersEnd(stage, plan);
  if (isLeft && (await putRight(repository, git, plan, plan.filters === true)) === 'completed') return { done: true };
  return { done: false, why: said === '' ? 'git could not change the files.' : `git says ${quote(said)}.` };
}

/**
 * Brings a repository in which a merge was cut off back to before it, or forward to after it where the branch had moved
 * already; `nothing` also where somebody has gone on with what lay there.
 * @param filters whether `git` runs them
 * @throws Error where that merge is still at work or had filters, where no merge of ours can have left what is there, where nothing
 * may be written, and where it can only be put right by hand, with what to do
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
  await removeDrafts(gitDirectory);
  letPacksGo(repository);
  const plan = planIn(stage);
  if (plan === undefined || workTree === undefined) return 'nothing';
  const claimed = await claim(stage, plan.id);
  try {
    // Who had it may have put it right meanwhile, and the next merge may have begun.
    const now = planIn(stage);
    if (now === undefined) return 'nothing';
    if (claimed === undefined || now.id !== plan.id) throw new MergeAtWork();
    return await putRight({ ...repository, workTree }, git, plan, filters);
  } finally {
    if (claimed !== undefined) rmSync(join(stage, claimed), { force: true });
    // Whose call has left it may live on.
    letPacksGo(repository, plan.id);
  }
}

/** Goes on with a plan that the caller has claimed. */
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
    // Who has removed it need not do so again.
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
  // Where no lock of the index has kept other gits out, that of a reference may be theirs: one is about to commit.
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
  // The plan may only refuse: whether programs run is for the caller to say.
  if (mode === 'undo' && plan.filters === true && !filters)
    throw new Error('A merge with filters was cut off here: recover with allowFilters');
  // Locks of a git that was killed with the finisher; the repository's own stays until the end.
  await rm(join(stage, 'index.lock'), { force: true });
  const moving = statSync(join(stage, 'moving'), { throwIfNoEntry: false });
  if (moving !== undefined && !wasUnlocked(stage)) await removeLeftRefLocks(repository, moving.mtimeMs);
  const { said } = await finish(mode, repository, git, plan);
  if (planIn(stage)?.id === plan.id) throw notPutRight(said);
  return mode === 'undo' ? 'undone' : 'completed';
}

/** In a stage whose lock somebody has removed. */
const UNLOCKED = 'unlocked';

/**
 * Takes the lock of the index again where somebody has removed it: only under it is what he has made of the repository the same from one look
 * to the next. That it was gone is written down first. Where another git holds it, nothing can be put right.
 */
async function lockAgain(gitDirectory: string, stage: string, plan: Plan): Promise<void> {
  if (await holdsLock(gitDirectory, plan)) return;
  if (!wasUnlocked(stage)) await writeDurably(join(stage, UNLOCKED), '');
  await link(join(stage, 'lock'), join(gitDirectory, 'index.lock')).catch(() => undefined);
}

function wasUnlocked(stage: string): boolean {
  return existsSync(join(stage, UNLOCKED));
}

/** A stage of an older version is undone as far as it says what to undo. */
async function completeLists(stage: string, plan: Plan): Promise<void> {
  const missing = missingIn(stage);
  if (missing.length > 0) throw await byHand(stage, plan, `its stage has no ${missing.join(', ')}`);
  if (!existsSync(join(stage, 'modes'))) await writeDurably(join(stage, 'modes'), '');
}

/**
 * Whether somebody has removed the lock and gone on since: has checked out something else, or has staged or committed what the merge
 * had written before its branch moved. Then index and files are his. What is staged as the merge itself has staged it, is not, whatever
 * else he has committed; and another name of the branch, or another branch at the same commit, is nothing else. Under the lock no git can
 * have done that.
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

/** @throws Error where git cannot tell: that is no answer, and going the wrong way would leave it half done */
async function hasMoved(repository: GitRepository, plan: Plan, branch = 'HEAD'): Promise<boolean> {
  const { git } = repository;
  // Somebody may have deleted it, or given it another name, and checked out another one.
  if (branch !== 'HEAD') {
    const { exitCode: isThere } = await git.run(['rev-parse', '-q', '--verify', branch], { accept: [0, 1] });
    if (isThere !== 0) return false;
  }
  const args = ['merge-base', '--is-ancestor', plan.new, branch];
  const { exitCode } = await git.run(args, { accept: [0, 1] }).catch(async (cause: Error) => {
    // Nothing leads to what git has lost.
    if (await isLost(repository, plan)) return { exitCode: 1 };
    throw notPutRight(cause.message, cause);
  });
  return exitCode === 0;
}

function notPutRight(why: string, cause?: Error): Error {
  return new Error(`What a merge left behind could not be put right: ${quote(why)}`, { cause });
}

/** What it printed behind all that git had to say. */
function foundInTheWay(said: string): string[] {
  const list = said.slice(said.lastIndexOf(`${THEY_ARE}\n`) + THEY_ARE.length + 1);
  return [...new Set(list.split('\0').filter((path) => path !== ''))];
}

/** Runs the finisher in a session of its own and answers what it complained about. */
async function finish(
  mode: 'apply' | 'undo' | 'forward',
  { gitDirectory, workTree }: GitRepository & { readonly workTree: string },
  git: Git,
  plan: Plan,
): Promise<{ readonly exitCode: number | null; readonly said: string }> {
  const stage = join(gitDirectory, NAME);
  // A file, not a pipe: nobody may be there to read. The finisher removes it with the rest; it is read by its descriptor.
  const log = join(stage, 'log');
  // One that is there may be another name of somebody's file.
  await rm(log, { force: true });
  const output = openSync(log, 'wx+');
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      const { id, old, new: next, message, branch = 'HEAD' } = plan;
      const halfDone = HALF_DONE.map(([name]) => name);
      const args = ['-c', FINISHER, NAME, id, mode, stage, gitDirectory, old, next, message, branch, ...halfDone];
      const lineEnds = plan.lineEnds === undefined ? [] : settingsFor(plan.lineEnds, stage);
      // Keeping a file by another name changes this time of it, and git would look at it again.
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
