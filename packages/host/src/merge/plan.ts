import { randomBytes } from 'node:crypto';
import { type Dirent, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCode } from '../host-error.js';
import { type HostIdentity, isHostIdentity } from './host-identity.js';
import { isLineEnds, type LineEnds } from './line-ends.js';

/** Planned change of a repository, recorded before it begins. */
export interface Plan {
  readonly id: string;
  readonly old: string;
  readonly new: string;
  readonly message: string;
  /** Reference to move. */
  readonly branch?: string;
  /**
   * True if the files go through filters. Without them, content that the filters wrote would look like changes of the
   * user.
   */
  readonly filters?: boolean;
  /** Line-end settings of the merging user. */
  readonly lineEnds?: LineEnds;
  /** Host on which the process numbers in the stage are valid. */
  readonly place?: HostIdentity;
}

export function newMergeId(): string {
  return randomBytes(12).toString('hex');
}

/** Name of the stage in git's directory while a merge is at work. */
export const NAME = 'scratchfs-merge';

/** Directory in the stage that keeps the previous files. */
export const KEPT = 'kept';

/** Maximum bytes of a plan; a longer file is not a plan, because its message is an argument of a program. */
const MAX_PLAN_BYTES = 1 << 20;

/**
 * Reads the plan of a stage; undefined if there is no stage or no plan in it. The repository and a stage in it may come
 * from an untrusted person: links in the stage would redirect writes to other files, and the id becomes part of file
 * names.
 * @throws Error if the stage cannot be from a merge
 */
export function planIn(stage: string): Plan | undefined {
  try {
    const path = join(stage, 'plan');
    const isWhole =
      lstatSync(stage).isDirectory() &&
      readdirSync(stage, { withFileTypes: true }).every(isOfStage) &&
      lstatSync(path).size <= MAX_PLAN_BYTES;
    const plan: unknown = isWhole ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
    if (isPlan(plan)) return plan;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw notOurs();
}

/** Creates the error for a stage that is not from a merge. */
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
    (place === undefined || isHostIdentity(place))
  );
}

/** Like {@link planIn} for drafts, which may be incomplete: undefined instead of an error. */
export function wholePlanIn(draft: string): Plan | undefined {
  try {
    return planIn(draft);
  } catch {
    return undefined;
  }
}
