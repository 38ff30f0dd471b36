import { readdirSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from '../process-start.js';
import { ownerNow } from './claims.js';
import { isRecent, mtimeOf } from './place.js';
import { NAME, type Plan, wholePlanIn } from './plan.js';
import { lastSign, mayBeAtWork } from './workers.js';

/** Whose something is that a merge has beside its stage. */
export interface Named {
  readonly id: string;
  readonly pid: number;
  /** Undefined for what a finisher has: it can name no more of itself than its number, which is another process's soon. */
  readonly started: string | undefined;
  readonly place: string;
}

const FORM = new RegExp(`^${NAME}-([\\da-f]{24})\\.([1-9]\\d{0,9})\\.(\\d*)(?:\\.([\\da-f]{16}))?$`);

/** What a stage is called before it is whole and when it has done its work: by that it is known whose it is. */
export function draftNameOf(id: string): string {
  const { pid, started, place } = ownerNow();
  return `${NAME}-${id}.${pid}.${started}.${place}`;
}

/** Undefined for what no merge can have called so. */
export function namedBy(name: string): Named | undefined {
  const [, id, pid, started, place = ownerNow().place] = FORM.exec(name) ?? [];
  return id === undefined ? undefined : { id, pid: Number(pid), started: started || undefined, place };
}

/**
 * Whether who has something may still be at work on it; in another place that is so for some minutes.
 * @param sign when something of it was written last
 */
export function isInHand({ pid, started, place }: Named, sign: () => number): boolean {
  return place === ownerNow().place ? isAlive(pid, started) : isRecent(sign());
}

/** Removes a stage in one step, so that nobody finds a part of it. */
export async function drop(gitDirectory: string, { id }: Plan): Promise<void> {
  const draft = join(gitDirectory, draftNameOf(id));
  await rename(join(gitDirectory, NAME), draft);
  await rm(draft, { recursive: true, force: true });
}

/** What processes that are gone have prepared and never used, or have used and not yet removed. */
export async function removeDrafts(gitDirectory: string): Promise<void> {
  for (const name of readdirSync(gitDirectory)) {
    const named = namedBy(name);
    if (named === undefined) continue;
    const draft = join(gitDirectory, name);
    // One that is not whole holds no lock.
    const plan = wholePlanIn(draft);
    if (named.started === undefined) {
      if (plan !== undefined && mayBeAtWork(draft, plan)) continue;
    } else if (isInHand(named, () => Math.max(mtimeOf(draft), lastSign(draft)))) continue;
    if (plan !== undefined) await release(gitDirectory, plan);
    await rm(draft, { recursive: true, force: true });
  }
}

/** Gives the repository's lock back where a merge still holds it. */
export async function release(gitDirectory: string, plan: Plan): Promise<void> {
  if (await holdsLock(gitDirectory, plan)) await rm(join(gitDirectory, 'index.lock'), { force: true });
}

export async function holdsLock(gitDirectory: string, plan: Plan): Promise<boolean> {
  return (await readFile(join(gitDirectory, 'index.lock'), 'utf8').catch(() => undefined)) === plan.id;
}
