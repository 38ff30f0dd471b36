import { readdirSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from '../process-start.js';
import { isRecent, mtimeOf } from './host-identity.js';
import { NAME, type Plan, wholePlanIn } from './plan.js';
import { ownerNow } from './process-lock.js';
import { lastSign, mayBeAtWork } from './workers.js';

/** Owner of a file or directory that a merge keeps beside its stage. */
export interface Named {
  readonly id: string;
  readonly pid: number;
  /**
   * Start time of the process. Undefined for an entry of a finisher script: it knows only its process number, which
   * another process may reuse.
   */
  readonly started: string | undefined;
  readonly place: string;
}

const FORM = new RegExp(`^${NAME}-([\\da-f]{24})\\.([1-9]\\d{0,9})\\.(\\d*)(?:\\.([\\da-f]{16}))?$`);

/** Returns the name of a stage before it is complete and after it has been used. It identifies the owner. */
export function draftNameOf(id: string): string {
  const { pid, started, place } = ownerNow();
  return `${NAME}-${id}.${pid}.${started}.${place}`;
}

/** Parses a name that {@link draftNameOf} or a finisher script made. Undefined if no merge can have made it. */
export function namedBy(name: string): Named | undefined {
  const [, id, pid, started, place = ownerNow().place] = FORM.exec(name) ?? [];
  return id === undefined ? undefined : { id, pid: Number(pid), started: started || undefined, place };
}

/**
 * Reports whether the owner of an entry may still be at work on it. An owner on another host counts as at work for some
 * minutes after its last write.
 * @param sign returns the time of the last write to the entry
 */
export function isInHand({ pid, started, place }: Named, sign: () => number): boolean {
  return place === ownerNow().place ? isAlive(pid, started) : isRecent(sign());
}

/** Removes a stage with one rename, so that no process sees a part of it. */
export async function drop(gitDirectory: string, { id }: Plan): Promise<void> {
  const draft = join(gitDirectory, draftNameOf(id));
  await rename(join(gitDirectory, NAME), draft);
  await rm(draft, { recursive: true, force: true });
}

/** Removes drafts that dead processes prepared and never used, or used and did not remove. */
export async function removeStaleStages(gitDirectory: string): Promise<void> {
  for (const name of readdirSync(gitDirectory)) {
    const named = namedBy(name);
    if (named === undefined) continue;
    const draft = join(gitDirectory, name);
    // An incomplete draft holds no lock.
    const plan = wholePlanIn(draft);
    if (named.started === undefined) {
      if (plan !== undefined && mayBeAtWork(draft, plan)) continue;
    } else if (isInHand(named, () => Math.max(mtimeOf(draft), lastSign(draft)))) continue;
    if (plan !== undefined) await release(gitDirectory, plan);
    await rm(draft, { recursive: true, force: true });
  }
}

/** Releases the repository's lock if the merge still holds it. */
export async function release(gitDirectory: string, plan: Plan): Promise<void> {
  if (await holdsLock(gitDirectory, plan)) await rm(join(gitDirectory, 'index.lock'), { force: true });
}

export async function holdsLock(gitDirectory: string, plan: Plan): Promise<boolean> {
  return (await readFile(join(gitDirectory, 'index.lock'), 'utf8').catch(() => undefined)) === plan.id;
}
