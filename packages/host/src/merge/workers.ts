import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { namesIn } from '../names-in.js';
import { isRunning, textOf } from '../process-start.js';
import { currentHost, hostKeyOf, isBeforeBoot, isRecent, mtimeOf } from './host-identity.js';
import type { Plan } from './plan.js';
import { isProcessLock } from './process-lock.js';

/** Name of the file in a merge's stage to which the finisher writes its process id, which is also its process group. */
const WORKER = 'worker';

/** Milliseconds that a merge waits for processes that outlive its finisher. */
const MAX_WORKER_WAIT_MS = 60_000;

/** Reports whether a process may still be at work on a plan. */
export function mayBeAtWork(stage: string, plan: Plan): boolean {
  const here = currentHost();
  const { place = here } = plan;
  if (hostKeyOf(place) === hostKeyOf(here)) return hasWorkers(stage, plan);
  const last = lastSign(stage);
  return isRecent(last) && !(place.machine === here.machine && isBeforeBoot(last));
}

/**
 * Returns the time of the last write of the merge, 0 if nothing is left. Process locks are left out: they may belong to
 * processes that recover the merge.
 */
export function lastSign(stage: string): number {
  const names = namesIn(stage).filter((name) => !isProcessLock(name));
  return Math.max(0, ...names.map((name) => mtimeOf(join(stage, name))));
}

/** Reports whether a process started for a plan still runs here, even if its parent is gone. */
function hasWorkers(stage: string, { id }: Plan): boolean {
  const listed = listedProcesses();
  // The scripts have the id among their arguments, and the gits that they start have it in their environment.
  if (listed.some((pid) => ['cmdline', 'environ'].some((file) => textOf(`/proc/${pid}/${file}`).includes(id))))
    return true;
  // The finisher leads a process group: its children are in it and may outlive it. They are not listed without /proc,
  // or if /proc hides the processes of other users.
  const worker = join(stage, WORKER);
  const group = Number(textOf(worker));
  if (!(group > 1) || isBeforeBoot(mtimeOf(worker)) || !isRunning(-group)) return false;
  return !listed.some((pid) => groupOf(pid) === group);
}

/** Returns the process numbers; empty without `/proc`. */
function listedProcesses(): string[] {
  return namesIn('/proc').filter((name) => /^\d+$/.test(name));
}

function groupOf(pid: string): number {
  const stat = textOf(`/proc/${pid}/stat`);
  // The name in parentheses may contain spaces; after it come the state, the parent and the group.
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

export async function workersEnd(stage: string, plan: Plan): Promise<void> {
  const until = performance.now() + MAX_WORKER_WAIT_MS;
  while (hasWorkers(stage, plan) && performance.now() < until) await wait(20);
}
