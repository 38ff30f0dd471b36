import { readdirSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isCode } from '../host-error.js';
import { textOf } from '../process-start.js';
import { isClaim } from './claims.js';
import { isRecent, keyOf, mtimeOf, placeNow } from './place.js';
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
  // Whoever worked there went with the machine, if it was this one.
  const last = lastSign(stage);
  return isRecent(last) && !(place.machine === here.machine && isBeforeBoot(last));
}

function isBeforeBoot(time: number): boolean {
  return time < Date.now() - uptime() * 1_000;
}

/** When something of the merge was written last; claims are of those who would put it right. */
function lastSign(stage: string): number {
  const names = readdirSync(stage).filter((name) => !isClaim(name));
  return Math.max(0, ...names.map((name) => mtimeOf(join(stage, name))));
}

/** Whether anything still runs here that was started for a plan, though who started it may be gone. */
function hasWorkers(stage: string, plan: Plan): boolean {
  if (process.platform !== 'linux') {
    const worker = join(stage, WORKER);
    return !isBeforeBoot(mtimeOf(worker)) && isGroupRunning(Number(textOf(worker)));
  }
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    // Its scripts have the id among their arguments, and the gits that these start in their environment.
    return [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`].some((file) => textOf(file).includes(plan.id));
  });
}

/** The finisher leads a group of processes: what it has started is in it too, and may outlive it. */
function isGroupRunning(leader: number): boolean {
  if (!(leader > 0)) return false;
  try {
    process.kill(-leader, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}

export async function workersEnd(stage: string, plan: Plan): Promise<void> {
  const until = performance.now() + WORKERS_MS;
  while (hasWorkers(stage, plan) && performance.now() < until) await wait(20);
}
