import { type FileSystem, isStorageError, OutcomeUnknownError } from '@scratchfs/core';
import { type Dump, differences, dump } from '@scratchfs/testkit';

export type Change = (fs: FileSystem, signal?: AbortSignal) => Promise<unknown>;

/** The number of injected faults and the problems found. */
export interface TrialReport {
  faults: number;
  /** Changes that succeeded despite a fault. */
  survived: number;
  /** Changes with an unknown outcome. */
  unknown: number;
  readonly problems: string[];
}

export const emptyReport = (): TrialReport => ({ faults: 0, survived: 0, unknown: 0, problems: [] });

/** A line to a storage with planned faults. */
export interface FaultyLine {
  /** Faults since the last `forget`. */
  readonly faults: number;
  /** Ends all faults. */
  forget(): void;
}

/** One change over a faulty line. */
export interface Trial {
  readonly what: string;
  readonly line: FaultyLine;
  readonly change: Change;
  readonly before: Dump;
  readonly after: Dump;
  /** True if the client has read everything before. */
  readonly isWarm: boolean;
  readonly spoil: () => void;
  /** Passes a client of the line. */
  readonly lend: (work: (fs: FileSystem) => Promise<boolean>) => Promise<boolean>;
  /** Waits until everything that the line holds has arrived, before any later request of a client. */
  readonly arrived?: () => Promise<void>;
  /** Reads the state as a new client. */
  readonly state: () => Promise<Dump>;
}

/** Milliseconds after which every call has ended, whatever happens to its requests. */
export const MAX_CALL_MS = 60_000;
const MAX_PROBLEMS = 50;
const MAX_FOLLOW_UP_ATTEMPTS = 4;

/** Runs the change and checks its outcome. Returns true if the line injected a fault. */
export async function tryChange(trial: Trial, report: TrialReport): Promise<boolean> {
  const { what, line, change, before, after, isWarm, spoil, lend, arrived, state } = trial;
  const problem = problemCollector(report.problems, what);
  let isReached = false;
  try {
    return await lend(async (fs) => {
      await withRetries<unknown>(() => (isWarm ? dump(fs) : fs.stats()));
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

/** Writes, reads and removes a file, after all requests that are still on the way. Returns the content read. */
export async function followUp(fs: FileSystem): Promise<string> {
  await withRetries(() => fs.writeFile('/follow-up', 'works'));
  const read = await withRetries(() => fs.readText('/follow-up'));
  await withRetries(() => fs.rm('/follow-up', { force: true }));
  return read;
}

/** Retries if the machine is so busy that a reply is late, or there is no connection yet. */
async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await settled(work());
    } catch (error) {
      if (!isStorageError(error) || !error.retryable || attempt === MAX_FOLLOW_UP_ATTEMPTS) throw error;
    }
  }
}

/** Returns which of two states it is; reports a problem if it is neither. */
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

/** Collects the problems of one subject, up to a maximum. */
export function problemCollector(problems: string[], what: string): (text: string) => void {
  return (text) => {
    if (problems.length < MAX_PROBLEMS) problems.push(`${what}: ${text}`);
  };
}

/** Returns the error of failed work; undefined if it succeeded. */
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
