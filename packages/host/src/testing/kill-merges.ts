import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { recoverMerge } from '../merge/execute-merge.js';
import { bundled } from './bundled.js';
import { TURNS } from './kinds.js';
import { stateOf } from './repository-state.js';
import type { SampleFolders, SampleRepository } from './sample-repository.js';

/**
 * Processes that are killed: the one that merges, those it has started for the repository, all of them together, or all
 * of them and then the one that recovers the repository.
 */
export const VICTIMS = ['caller', 'finisher', 'everything', 'recoverer'] as const;
export type Victim = (typeof VICTIMS)[number];

/** Environment variable set for the process that merges and for its children until they run another program. */
const MARK = 'SCRATCHFS_KILLED_IN';

/** Approximate time in milliseconds during which a merge changes files. */
const SOON_MS = 25;

export interface KillCounts {
  kills: number;
  before: number;
  after: number;
  /** Number of times a merge was left to be recovered. */
  recovered: number;
}

/**
 * Kills merges at random moments. Throws at the first repository whose state is neither the one before the merge nor
 * the one after it. If only the caller is killed, the state is checked without a recovery.
 */
export async function killMerges(
  folders: SampleFolders,
  random: () => number,
  rounds: number,
  tell: (report: Record<Victim, KillCounts>) => void = () => undefined,
): Promise<Record<Victim, KillCounts>> {
  const bundle = await bundled('merge-child', folders.folder());
  const repository = repositoryOfKinds(folders);
  const before = visible(repository);
  const old = repository.git('rev-parse', 'HEAD');
  const start = (task: Task): Promise<Running> => startTask(bundle, task, repository.path);
  // One merge runs to its end, which gives the state after it and its duration.
  const whole = await start('merge');
  const lasts = { merge: await timeOf(whole), recover: 0 };
  const after = visible(repository);
  if (after === before) throw new Error(`A merge that is not killed changes nothing: ${whole.said}`);
  const counts = (): KillCounts => ({ kills: 0, before: 0, after: 0, recovered: 0 });
  const report = { caller: counts(), finisher: counts(), everything: counts(), recoverer: counts() };
  for (let round = 0; round < rounds; round++) {
    repository.git('reset', '-q', '--hard', old);
    const victim = VICTIMS[round % VICTIMS.length] as Victim;
    const merge = await start('merge');
    // Half of them are killed at any time, the others while files change.
    if (victim !== 'recoverer' && random() < 0.5) await wait(random() * lasts.merge);
    else await changing(merge, random() < 0.3 ? 'plan' : 'begun', random() * SOON_MS);
    let isKilled = await killed(victim === 'recoverer' ? 'everything' : victim, merge);
    if (victim === 'recoverer') isKilled = false;
    if (victim === 'recoverer' && existsSync(stageFile(repository.path, 'begun'))) {
      const recovery = await start('recover');
      if (lasts.recover === 0) {
        lasts.recover = await timeOf(recovery);
      } else {
        await wait(random() * lasts.recover);
        isKilled = await killed('everything', recovery);
      }
    }
    const count = report[victim];
    count.kills += isKilled ? 1 : 0;
    if (victim !== 'caller') {
      if ((await recoverMerge(repository.path)) !== 'nothing') count.recovered += 1;
      const left = readdirSync(join(repository.path, '.git')).filter((name) => name.startsWith('scratchfs-merge'));
      if (left.length > 0) throw new Error(`Killing ${victim} in round ${round} left behind: ${left}`);
    }
    const state = visible(repository);
    if (state === before) count.before += 1;
    else if (state === after) count.after += 1;
    else
      throw new Error(
        `Killing ${victim} in round ${round} left it between: ${repository.git('status', '--short')} ${readdirSync(join(repository.path, '.git'))}`,
      );
    if (round % 50 === 0) repository.git('fsck', '--strict');
    if (round % 50 === 49 || round === rounds - 1) tell(report);
  }
  return report;
}

function repositoryOfKinds(folders: SampleFolders): SampleRepository {
  const repository = folders.repository({ 'same.txt': 'same\n' });
  for (const { path, before } of TURNS) {
    for (const { at, mode, content } of before) {
      if (mode === '120000') repository.link(path + at, content);
      else repository.write(path + at, content, mode === '100755' ? 0o755 : 0o644);
    }
  }
  repository.commit({}, 'every kind');
  return repository;
}

type Task = 'merge' | 'recover';

/** A process that has begun its task. */
interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly path: string;
  readonly ended: Promise<unknown>;
  /** Output of its task. */
  readonly said: string;
}

async function startTask(bundle: string, task: Task, path: string): Promise<Running> {
  const child = spawn(process.execPath, [bundle, task, path], {
    cwd: '/',
    env: { ...process.env, [MARK]: path },
    stdio: 'pipe',
  });
  const ended = once(child, 'close');
  child.stdin.on('error', () => undefined);
  const isReady = await Promise.race([once(child.stdout, 'data'), ended.then(() => false)]);
  if (isReady === false) throw new Error(`The process to be killed could not begin: ${child.stderr.read()}`);
  const running = { child, path, ended, said: '' };
  child.stdout.on('data', (text) => (running.said += text));
  child.stdin.write('go\n');
  return running;
}

async function timeOf({ ended }: Running): Promise<number> {
  const started = performance.now();
  await ended;
  return performance.now() - started;
}

function stageFile(path: string, name: string): string {
  return join(path, '.git/scratchfs-merge', name);
}

/** Waits until a merge writes a file of its stage, and some milliseconds more. */
async function changing({ child, path }: Running, file: string, milliseconds: number): Promise<void> {
  while (!existsSync(stageFile(path, file)) && child.exitCode === null) await wait(0);
  await wait(milliseconds);
}

/** Kills a victim and waits until all remaining processes have ended. Returns whether there was a process to kill. */
async function killed(victim: Exclude<Victim, 'recoverer'>, { child, path, ended }: Running): Promise<boolean> {
  let isKilled = false;
  if (victim !== 'finisher') isKilled = child.exitCode === null && child.kill('SIGKILL');
  if (victim !== 'caller') {
    for (const pid of workersOf(path)) {
      if (pid === child.pid) continue;
      try {
        process.kill(pid, 'SIGKILL');
        isKilled = true;
      } catch {
        // The process has just ended.
      }
    }
  }
  await ended;
  // The children of the caller go on by themselves; one that waits for the disk dies once its request has completed.
  for (const until = Date.now() + 120_000; workersOf(path).length > 0 && Date.now() < until; ) await wait(2);
  return isKilled;
}

/**
 * Returns the ids of the processes that work in a directory: scripts, gits, and children that are about to become one.
 */
function workersOf(path: string): number[] {
  const mark = `${MARK}=${path}\0`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const at = readlinkSync(`/proc/${pid}/cwd`);
        return (
          at === path || at.startsWith(`${path}/`) || readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)
        );
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Returns the state that a user sees: without the merge's own working files and the times in reflogs. */
function visible({ path }: SampleRepository): string {
  const state = Object.entries(stateOf(path)).filter(
    ([name]) => !/^\.git\/(logs\/|scratchfs-merge|ORIG_HEAD)/.test(name),
  );
  return JSON.stringify(state.sort());
}
