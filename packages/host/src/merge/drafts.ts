import { readdirSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, ownerNow } from './claims.js';
import { isFresh } from './place.js';
import { NAME, type Plan, wholePlanIn } from './plan.js';

/** What a stage is called before it is whole and when it has done its work: by that it is known whose it is. */
export function draftNameOf(id: string): string {
  const { pid, started, place } = ownerNow();
  return `${NAME}-${id}.${pid}.${started}.${place}`;
}

/** Removes a stage in one step, so that nobody finds a part of it. */
export async function drop(gitDirectory: string, { id }: Plan): Promise<void> {
  const draft = join(gitDirectory, draftNameOf(id));
  await rename(join(gitDirectory, NAME), draft);
  await rm(draft, { recursive: true, force: true });
}

/** What processes that are gone have prepared and never used, or have used and not yet removed. */
export async function removeDrafts(gitDirectory: string): Promise<void> {
  const { place: here } = ownerNow();
  for (const name of readdirSync(gitDirectory)) {
    if (!name.startsWith(`${NAME}-`)) continue;
    const draft = join(gitDirectory, name);
    const [, pid, started = '', place = here] = name.split('.');
    if (place !== here) {
      if (isFresh(draft)) continue;
    } else if (/^[1-9]\d*$/.test(pid ?? '') && isAlive(Number(pid), started === '' ? undefined : started)) continue;
    // One that is not whole holds no lock.
    const plan = wholePlanIn(draft);
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
