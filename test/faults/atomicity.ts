import { type Backend, type FileSystem, isStorageError, OutcomeUnknownError } from '@scratchfs/core';
import {
  apply,
  type Dump,
  differences,
  dump,
  type Fault,
  type FaultPlan,
  faultyBackend,
  Random,
  Scheduler,
  type Step,
  steps,
} from '@scratchfs/testkit';
import { CHANGES, client, clock, fork, freshBackend, plantScene, stateOf } from './harness.js';

/** The number of injected faults and the problems found. */
export interface Report {
  faults: number;
  /** Operations that succeeded despite a fault. */
  survived: number;
  readonly problems: string[];
}

const FAULTS: readonly Fault[] = ['before', 'after', 'hang', 'lost', 'late', 'twice'];

/**
 * Runs every change of the scene with every fault at call 0, 1, 2 … until that call is not reached, with the fault
 * injected once or at all later calls too.
 */
export async function everyChange(report: Report): Promise<void> {
  const base = freshBackend();
  await plantScene(await client(base));
  for (const [name, change] of Object.entries(CHANGES)) {
    const trial = await trialOf(base, (fs) => change(fs));
    for (const fault of FAULTS) {
      for (const forever of [false, true]) {
        for (const warm of [false, true]) {
          for (let at = 0; at < 100; at++) {
            const plan: FaultPlan = ({ index }) => (index === at || (forever && index > at) ? fault : 'none');
            const what = `${name}: ${fault} at call ${at}${forever ? ' and ever after' : ''}${warm ? ', warm' : ''}`;
            if (!(await oneFault(trial, plan, warm, what, report))) break;
          }
        }
      }
    }
  }
}

/** Runs random steps of a random history, each with one fault, until enough faults were injected. */
export async function randomSteps(seed: number, wanted: number, report: Report): Promise<void> {
  const random = new Random(seed);
  for (let history = 0; report.faults < wanted; history++) {
    const base = freshBackend();
    const fs = await client(base);
    const played: Step[] = [];
    const operations = [
      'writeFile',
      'appendFile',
      'editFile',
      'truncate',
      'mkdir',
      'rm',
      'unlink',
      'cp',
      'copyFile',
      'rename',
      'symlink',
      'link',
      'chmod',
      'utimes',
    ] as const;
    for (const step of steps(seed * 1000 + history, 60, { operations, largeSize: 20_000 })) {
      clock.advance(1);
      if (played.length > 10) {
        const trial = await trialOf(base, (faulty) => playOrThrow(faulty, step));
        const fault = random.pick(FAULTS);
        const forever = random.chance(0.3);
        for (let at = 0; at < 20; at++) {
          const plan: FaultPlan = ({ index }) => (index === at || (forever && index > at) ? fault : 'none');
          const what = `seed ${seed}, history ${history}, step ${played.length} ${JSON.stringify(step)}: ${fault} at call ${at}`;
          const reached = await oneFault(trial, plan, false, what, report);
          if (!reached || report.faults >= wanted) break;
        }
      }
      played.push(step);
      await apply(fs, step, new Map());
    }
  }
}

async function playOrThrow(fs: FileSystem, step: Step): Promise<void> {
  const outcome = await apply(fs, step, new Map());
  if ('error' in outcome && outcome.error.startsWith('storage:')) throw new StorageFailed(outcome.error);
}

class StorageFailed extends Error {}

/** A change with the states before and after it. */
interface Trial {
  readonly base: Backend;
  readonly before: Dump;
  readonly after: Dump;
  readonly change: (fs: FileSystem) => Promise<unknown>;
}

async function trialOf(base: Backend, change: Trial['change']): Promise<Trial> {
  const reference = await fork(base);
  await change(await client(reference)).catch(() => undefined);
  return { base, change, before: await stateOf(base), after: await stateOf(reference) };
}

/** Runs one change with a fault plan. Returns true if the plan injected a fault. */
async function oneFault(trial: Trial, plan: FaultPlan, warm: boolean, what: string, report: Report): Promise<boolean> {
  const { base, before, after, change } = trial;
  const backend = await fork(base);
  const scheduler = new Scheduler(1);
  let live = !warm;
  const faulty = faultyBackend(backend, (call) => (live ? plan({ ...call, index: call.index - skipped }) : 'none'));
  const fs = await client(faulty, { scheduler, timeoutMs: 1_000 });
  let skipped = 0;
  if (warm) {
    await scheduler.run(dump(fs));
    skipped = faulty.calls;
    live = true;
  }
  let error: unknown;
  const started = scheduler.now;
  try {
    await scheduler.run(change(fs));
  } catch (thrown) {
    error = thrown;
  }
  if (faulty.faults === 0) return false;
  report.faults += 1;
  const problem = (text: string): void => {
    if (report.problems.length < 50) report.problems.push(`${what}: ${text}`);
  };
  if (scheduler.now - started > 60_000) problem(`it took ${scheduler.now - started} virtual ms`);
  faulty.heal();
  try {
    const now = await stateOf(backend);
    const isBefore = differences(before, now).length === 0;
    const isAfter = differences(after, now).length === 0;
    if (!isBefore && !isAfter) problem(`between: ${differences(after, now).slice(0, 3).join('; ')}`);
    else if (error === undefined) {
      report.survived += 1;
      if (!isAfter) problem('it succeeded, but did not happen');
    } else if (!(error instanceof StorageFailed) && !isStorageError(error))
      problem(`an error of another kind: ${String(error)}`);
    else if (!(error instanceof OutcomeUnknownError) && !(error instanceof StorageFailed) && !isBefore)
      problem(`it failed with ${String(error)}, but happened`);
    await scheduler.run(fs.writeFile('/follow-up', 'works'));
    if ((await scheduler.run(fs.readText('/follow-up'))) !== 'works') problem('the follow-up operation is not there');
    if (report.faults % 8 !== 0) return true;
    const seen = await scheduler.run(dump(fs));
    const stale = differences(await stateOf(backend), seen);
    if (stale.length > 0) problem(`the client sees other data than the storage has: ${stale.slice(0, 3).join('; ')}`);
  } catch (thrown) {
    problem(`afterwards: ${String(thrown)}`);
  }
  return true;
}
