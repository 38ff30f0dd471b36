import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { recoverMerge } from '../merge/execute-merge.js';
import { bundled } from './bundled.js';
import { stateOf } from './repository-state.js';
import type { SampleFolders, SampleRepository } from './sample-repository.js';

/** Who is killed: the process that merges, what it has started for the repository, or everything at once. */
export const VICTIMS = ['caller', 'finisher', 'everything'] as const;
export type Victim = (typeof VICTIMS)[number];

/** In the environment of the process that merges, and of what it forks until that is another program. */
const MARK = 'SCRATCHFS_KILLED_IN';

export interface KillCounts {
  kills: number;
  before: number;
  after: number;
  /** How often something was left to be recovered. */
  recovered: number;
}

/**
 * Kills merges at random moments; throws at the first repository that is neither as before nor complete. Where only the caller
 * is killed, nobody puts anything right before that is looked at.
 */
export async function killMerges(
  folders: SampleFolders,
  random: () => number,
  rounds: number,
  tell: (report: Record<Victim, KillCounts>) => void = () => undefined,
): Promise<Record<Victim, KillCounts>> {
  const child = await bundled('merge-child', folders.folder());
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`file-${i}`, `before ${i}\n`.repeat(300)]));
  const repository = folders.repository(files);
  const before = visible(repository);
  const old = repository.git('rev-parse', 'HEAD');
  const counts = () => ({ kills: 0, before: 0, after: 0, recovered: 0 });
  const report = { caller: counts(), finisher: counts(), everything: counts() };
  let after: string | undefined;
  let lasts = 0;
  // The first one runs through, so that it is known how it ends.
  for (let round = -1; round < rounds; round++) {
    const victim = VICTIMS[round % VICTIMS.length] as Victim | undefined;
    const started = performance.now();
    const killed = await killOne(child, repository, round < 0 ? undefined : victim, random, lasts);
    lasts ||= performance.now() - started;
    const count = round < 0 || victim === undefined ? counts() : report[victim];
    count.kills += killed ? 1 : 0;
    if (round >= 0 && victim !== 'caller') {
      if ((await recoverMerge(repository.path)) !== 'nothing') count.recovered += 1;
      const left = readdirSync(join(repository.path, '.git')).filter((name) => name.startsWith('scratchfs-merge'));
      if (left.length > 0) throw new Error(`Killing ${victim} in round ${round} left behind: ${left}`);
    }
    const state = visible(repository);
    after ??= state;
    if (after === before) throw new Error('A merge that nobody kills changes nothing');
    if (state === before) count.before += 1;
    else if (state === after) count.after += 1;
    else
      throw new Error(
        `Killing ${victim} in round ${round} left it between: ${repository.git('status', '--short')} ${readdirSync(join(repository.path, '.git'))}`,
      );
    if (state !== before) repository.git('reset', '-q', '--hard', old);
    if (round % 50 === 0) repository.git('fsck', '--strict');
    if (round % 50 === 49) tell(report);
  }
  return report;
}

async function killOne(
  bundle: string,
  { path }: SampleRepository,
  victim: Victim | undefined,
  random: () => number,
  lasts: number,
): Promise<boolean> {
  const child = spawn(process.execPath, [bundle, path], {
    cwd: '/',
    env: { ...process.env, [MARK]: path },
    stdio: 'pipe',
  });
  const ended = once(child, 'close');
  child.stdin.on('error', () => undefined);
  const isReady = await Promise.race([once(child.stdout, 'data'), ended.then(() => false)]);
  if (isReady === false) throw new Error(`The process to be killed could not begin: ${child.stderr.read()}`);
  child.stdin.write('go\n');
  let killed = false;
  if (victim !== undefined) {
    // Half of them while files change, the others any time.
    if (random() < 0.5) await wait(random() * lasts);
    else {
      const begun = join(path, '.git/scratchfs-merge', random() < 0.3 ? 'plan' : 'begun');
      while (!existsSync(begun) && child.exitCode === null) await wait(0);
      await wait(random() * 15);
    }
    killed = kill(victim, child, path);
  }
  await ended;
  // What the caller started goes on by itself; what waits for the disk dies when it has it.
  for (const until = Date.now() + 120_000; workersOf(path).length > 0 && Date.now() < until; ) await wait(2);
  return killed;
}

function kill(victim: Victim, child: ChildProcessWithoutNullStreams, path: string): boolean {
  let killed = false;
  if (victim !== 'finisher') killed = child.exitCode === null && child.kill('SIGKILL');
  if (victim !== 'caller') {
    for (const pid of workersOf(path)) {
      if (pid === child.pid) continue;
      try {
        process.kill(pid, 'SIGKILL');
        killed = true;
      } catch {
        // It has just ended.
      }
    }
  }
  return killed;
}

/** The processes that work in a directory: scripts and gits, and what is on its way to become one. */
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

/** What a user sees: without our own working files and without the times in reflogs. */
function visible({ path }: SampleRepository): string {
  const state = Object.entries(stateOf(path)).filter(
    ([name]) => !/^\.git\/(logs\/|scratchfs-merge|ORIG_HEAD)/.test(name),
  );
  return JSON.stringify(state.sort());
}
