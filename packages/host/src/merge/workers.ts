import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { namesIn } from '../names-in.js';
import { isRunning, textOf } from '../process-start.js';
import { isClaim } from './claims.js';
import { isBeforeBoot, isRecent, keyOf, mtimeOf, placeNow } from './place.js';
import type { Plan } from './plan.js';

/** The file in a stage with the number of the process that works on it. */
const WORKER = 'worker';

/** How long a merge waits for what outlives its finisher. */
const WORKERS_MS = 60_000;

/** Whether somebody may still be at work on a plan. */
export function mayBeAtWork(stage: string, plan: Plan): boolean {
  const here = placeNow();
  const { place = here } = plan;
  if (keyOf(place) === keyOf(here)) return hasWorkers(stage, plan);
  const last = lastSign(stage);
  return isRecent(last) && !(place.machine === here.machine && isBeforeBoot(last));
}

/** When something of the merge was written last, 0 where all of it is gone; claims are of those who would put it right. */
export function lastSign(stage: string): number {
  const names = namesIn(stage).filter((name) => !isClaim(name));
  return Math.max(0, ...names.map((name) => mtimeOf(join(stage, name))));
}

/** Whether anything still runs here that was started for a plan, though who started it may be gone. */
function hasWorkers(stage: string, { id }: Plan): boolean {
  const listed = listedProcesses();
  // Its scripts have the id among their arguments, and the gits that these start in their environment.
  if (listed.some((pid) => ['cmdline', 'environ'].some((file) => textOf(`/proc/${pid}/${file}`).includes(id))))
    return true;
  // The finisher leads a group: what it has started is in it too, and may outlive it. Nothing lists it without /proc, nor where that
  // hides what others run.
  const worker = join(stage, WORKER);
  const group = Number(textOf(worker));
  if (!(group > 1) || isBeforeBoot(mtimeOf(worker)) || !isRunning(-group)) return false;
  return !listed.some((pid) => groupOf(pid) === group);
}

/** None where there is no `/proc`. */
function listedProcesses(): string[] {
  return namesIn('/proc').filter((name) => /^\d+$/.test(name));
}

function groupOf(pid: string): number {
  const stat = textOf(`/proc/${pid}/stat`);
  // Behind the name, which may hold spaces, come the state, the parent and the group.
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

export async function workersEnd(stage: string, plan: Plan): Promise<void> {
  const until = performance.now() + WORKERS_MS;
  while (hasWorkers(stage, plan) && performance.now() < until) await wait(20);
}
