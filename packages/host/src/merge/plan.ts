import { randomBytes } from 'node:crypto';
import { type Dirent, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCode } from '../host-error.js';
import { isLineEnds, type LineEnds } from './line-ends.js';
import { isPlace, type Place } from './place.js';

/** What is to happen to a repository, written down before it does. */
export interface Plan {
  readonly id: string;
  readonly old: string;
  readonly new: string;
  readonly message: string;
  /** The reference that is to move. */
  readonly branch?: string;
  /** Whether its files go through filters: without them, what these wrote would count as somebody's. */
  readonly filters?: boolean;
  /** Of who merged. */
  readonly lineEnds?: LineEnds;
  /** Where numbers say which processes work on it. */
  readonly place?: Place;
}

export function newMergeId(): string {
  return randomBytes(12).toString('hex');
}

/** What is beside git's own things while a merge is at work. */
export const NAME = 'scratchfs-merge';

/** The directory of the files as they were before. */
export const KEPT = 'kept';

/** In bytes. Longer is no plan of ours: its message is an argument of a program. */
const LONGEST_PLAN = 1 << 20;

/**
 * The plan of a stage; undefined where there is none. A repository may come from somebody else, with a stage in it: links in that
 * would lead what is written there to other files, and an id is part of names.
 * @throws Error where no merge can have left it
 */
export function planIn(stage: string): Plan | undefined {
  try {
    const path = join(stage, 'plan');
    const isWhole =
      lstatSync(stage).isDirectory() &&
      readdirSync(stage, { withFileTypes: true }).every(isOfStage) &&
      lstatSync(path).size <= LONGEST_PLAN;
    const plan: unknown = isWhole ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
    if (isPlan(plan)) return plan;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw notOurs();
}

/** What lies at a stage's place is none of a merge. */
export function notOurs(): Error {
  return new Error(`No merge has left what lies in ${NAME} beside the repository's objects: remove it`);
}

function isOfStage(entry: Dirent): boolean {
  return [KEPT, 'as-new', 'made', 'making'].includes(entry.name) ? entry.isDirectory() : entry.isFile();
}

function isPlan(value: unknown): value is Plan {
  const {
    id,
    old,
    new: next,
    message,
    branch,
    lineEnds,
    place,
  } = Object(value) as Partial<Record<keyof Plan, unknown>>;
  return (
    typeof id === 'string' &&
    /^[\da-f]{24}$/.test(id) &&
    [old, next].every((commit) => typeof commit === 'string' && /^[\da-f]{40,64}$/.test(commit)) &&
    typeof message === 'string' &&
    (branch === undefined || (typeof branch === 'string' && /^(?:refs\/|HEAD$)/.test(branch))) &&
    (lineEnds === undefined || isLineEnds(lineEnds)) &&
    (place === undefined || isPlace(place))
  );
}

/** For drafts, which need not be whole. */
export function wholePlanIn(draft: string): Plan | undefined {
  try {
    return planIn(draft);
  } catch {
    return undefined;
  }
}
