import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startOf } from '../process-start.js';
import { isClaim } from './claims.js';
import { type Place, placeNow } from './place.js';
import type { Plan } from './plan.js';

/** The file in a stage with the number of the process that works on it. */
const WORKER = 'worker';

/** How long a merge waits for what outlives its finisher. */
const WORKERS_MS = 60_000;

/** So long after the last sign of it, a merge in a place that cannot be looked into is taken for one that was cut off. */
export const UNSEEN_MS = 600_000;

/** Whether somebody may still be at work on a plan. */
export function mayBeAtWork(stage: string, plan: Plan): boolean {
  const here = placeNow();
  const { place = here } = plan;
  if (isSame(place, here)) return hasWorkers(stage, plan);
  // Whoever worked there went with the machine.
  if (place.machine === here.machine && place.boot !== here.boot) return false;
  // Of the merge; claims are of those who would put it right.
  const signs = readdirSync(stage).filter((name) => !isClaim(name));
  const last = Math.max(...signs.map((name) => statSync(join(stage, name)).mtimeMs));
  return Date.now() - last < UNSEEN_MS;
}

function isSame(a: Place, b: Place): boolean {
  return a.machine === b.machine && a.boot === b.boot && a.processes === b.processes;
}

/** Whether anything still runs here that was started for a plan, though who started it may be gone. */
function hasWorkers(stage: string, plan: Plan): boolean {
  if (process.platform !== 'linux') return startOf(Number(textOf(join(stage, WORKER)))) !== undefined;
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    // Its scripts have the id among their arguments, and the gits that these start in their environment.
    return [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`].some((file) => textOf(file).includes(plan.id));
  });
}

export async function workersEnd(stage: string, plan: Plan): Promise<void> {
  const until = performance.now() + WORKERS_MS;
  while (hasWorkers(stage, plan) && performance.now() < until) await wait(20);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
