import { type FileSystem, isStorageError, OutcomeUnknownError } from '@scratchfs/core';
import { type Dump, differences, dump } from '@scratchfs/testkit';

export type Change = (fs: FileSystem, signal?: AbortSignal) => Promise<unknown>;

/** What was done to the ways to a storage, and what was found wrong. */
export interface TrialReport {
  faults: number;
  /** Changes that succeeded in spite of it. */
  survived: number;
  /** Changes of which the storage could not tell what became. */
  unknown: number;
  readonly problems: string[];
}

export const emptyReport = (): TrialReport => ({ faults: 0, survived: 0, unknown: 0, problems: [] });

/** A way to a storage on which things go wrong as planned. */
export interface FaultyLine {
  /** What has gone wrong since it was told to forget. */
  readonly faults: number;
  /** All goes well again. */
  forget(): void;
}

/** One change over a line that is spoiled. */
export interface Trial {
  readonly what: string;
  readonly line: FaultyLine;
  readonly change: Change;
  readonly before: Dump;
  readonly after: Dump;
  /** Whether the client has seen everything before. */
  readonly isWarm: boolean;
  readonly spoil: () => void;
  /** Lends a client over the line. */
  readonly lend: (work: (fs: FileSystem) => Promise<boolean>) => Promise<boolean>;
  /** Until what the line still holds has arrived; what a client sends next comes after that. */
  readonly arrived?: () => Promise<void>;
  /** The state as a client sees it that has never seen anything before. */
  readonly state: () => Promise<Dump>;
}

/** By then every call has ended, whatever happens to its requests. */
export const MAX_CALL_MS = 30_000;
const MAX_PROBLEMS = 50;
const MAX_FOLLOW_UP_ATTEMPTS = 4;

/** Makes the change and judges what came of it; answers whether anything went wrong on the line. */
export async function tryChange(trial: Trial, report: TrialReport): Promise<boolean> {
  const { what, line, change, before, after, isWarm, spoil, lend, arrived, state } = trial;
  const problem = problemCollector(report.problems, what);
  let isReached = false;
  try {
    return await lend(async (fs) => {
      await (isWarm ? dump(fs) : fs.stats());
      line.forget();
      spoil();
      const error = await errorOf(settled(change(fs)));
      isReached = line.faults > 0;
      line.forget();
      if (!isReached) return false;
      report.faults += 1;
      await arrived?.();
      if ((await followUp(fs)) !== 'works') problem('the follow-up operation is not there');
      const where = classifyState(before, after, await state(), problem);
      if (where === undefined) return true;
      if (error === undefined) {
        report.survived += 1;
        if (!where.isAfter) problem('it succeeded, but did not happen');
      } else if (!isStorageError(error)) problem(`an error of another kind: ${String(error)}`);
      else if (error instanceof OutcomeUnknownError) report.unknown += 1;
      else if (!where.isBefore) problem(`it failed with ${String(error)}, but happened`);
      return true;
    });
  } catch (error) {
    problem(`afterwards: ${String(error)}`);
    return isReached;
  }
}

/** Writes a file, reads and removes it: what is still on its way arrives before this does. Answers what was read. */
export async function followUp(fs: FileSystem): Promise<string> {
  await withRetries(() => fs.writeFile('/follow-up', 'works'));
  const read = await withRetries(() => fs.readText('/follow-up'));
  await withRetries(() => fs.rm('/follow-up', { force: true }));
  return read;
}

/** Again where the machine is so busy that an answer comes too late, or a connection is not there yet. */
async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await settled(work());
    } catch (error) {
      if (!isStorageError(error) || !error.retryable || attempt === MAX_FOLLOW_UP_ATTEMPTS) throw error;
    }
  }
}

/** Which of two states it is; a problem where it is neither. */
export function classifyState(
  before: Dump,
  after: Dump,
  now: Dump,
  problem: (text: string) => void,
): { readonly isBefore: boolean; readonly isAfter: boolean } | undefined {
  const isBefore = differences(before, now).length === 0;
  const isAfter = differences(after, now).length === 0;
  if (isBefore || isAfter) return { isBefore, isAfter };
  problem(`between: ${differences(after, now).slice(0, 3).join('; ')}`);
  return undefined;
}

/** Notes problems of one thing, as long as they are not too many. */
export function problemCollector(problems: string[], what: string): (text: string) => void {
  return (text) => {
    if (problems.length < MAX_PROBLEMS) problems.push(`${what}: ${text}`);
  };
}

/** What work failed with; undefined where it succeeded. */
export async function errorOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error;
  }
}

function settled<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`still pending after ${MAX_CALL_MS} ms`)), MAX_CALL_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
