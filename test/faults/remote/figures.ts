import { compareForms, type Forms } from '../../differential/forms.js';
import type { AbortReport } from '../aborts.js';
import type { QuotaReport } from '../quota.js';
import type { Outcome, Release } from '../release.js';
import { type AbortTarget, abortEverywhere } from './abort.js';
import { raceAcrossProcesses } from './fill.js';
import { type PairReport, snapshotsAcrossProcesses } from './pairs.js';
import type { Pool } from './process-pool.js';
import type { Remote } from './remote.js';
import { checkSharedHistory, type SharedHistoryOptions } from './shared-history.js';
import type { SharedJobs } from './shared-jobs.js';
import type { TrialReport } from './trial.js';

/** The number of workers for the clients of a history or a race. */
export const WORKERS = 3;
const MAX_ROUNDS = 500;

/** The campaigns shared by all remote storages. */
export class RemoteFigures<P> {
  constructor(
    private readonly release: Release,
    private readonly remote: Remote<P>,
    private readonly makePool: () => Pool<SharedJobs<P>>,
  ) {}

  /** Compares the same random operations in memory and on the remote storage. */
  async forms(forms: Forms): Promise<Outcome> {
    const { firstSeed } = this.release;
    const { operations, difference } = await compareForms(firstSeed, this.release.count(50_000), forms);
    return { figure: `${operations} operations`, problems: difference === undefined ? [] : [difference] };
  }

  /** Checks that histories of clients in several processes, half of them with faults, are linearizable. */
  histories(place: () => P, faulty: (seed: number) => SharedHistoryOptions): Promise<Outcome> {
    return this.#withPool(async (pool) => {
      const { release } = this;
      const problems: string[] = [];
      const wanted = release.count(2_000);
      let played = 0;
      for (const seed of release.seedsWhile(() => played < wanted, problems)) {
        const isFaulty = seed % 2 === 0;
        for (const problem of await checkSharedHistory(this.remote, pool, place(), seed, isFaulty ? faulty(seed) : {}))
          problems.push(`seed ${seed}: ${problem}`);
        played += 1;
      }
      const figure = `${played} histories of 800 operations in ${pool.workers.length} workers, half with faults`;
      return { figure, problems };
    });
  }

  /** Checks that racing processes never exceed a limit. */
  quota(place: () => P, perWriter: number): Promise<Outcome> {
    return this.#withPool(async (pool) => {
      const report: QuotaReport = { operations: 0, refused: 0, gaveUp: 0, problems: [] };
      const wanted = this.release.count(100_000);
      for (const seed of this.release.seedsWhile(() => report.operations < wanted, report.problems))
        await raceAcrossProcesses(this.remote, pool, place(), seed, perWriter, report);
      const { operations, refused, gaveUp, problems } = report;
      return { figure: `${operations} racing operations, ${refused} refused, ${gaveUp} given up`, problems };
    });
  }

  /** Checks that no reader sees half of a write. */
  snapshots(place: () => P): Promise<Outcome> {
    return this.#withPool(async (pool) => {
      const report: PairReport = { snapshots: 0, writes: 0, restores: 0, problems: [] };
      const wanted = this.release.count(10_000);
      for (const _ of this.release.seedsWhile(() => report.snapshots < wanted, report.problems))
        await snapshotsAcrossProcesses(this.remote, pool, place(), Math.min(MAX_ROUNDS, wanted), report);
      const { snapshots, writes, restores, problems } = report;
      return { figure: `${snapshots} snapshots under ${writes} writes and ${restores} restores`, problems };
    });
  }

  /** Checks that an aborted change happens completely or not at all. */
  async aborts(ground: AbortTarget): Promise<Outcome> {
    const report: AbortReport = { aborts: 0, succeeded: 0, problems: [] };
    const wanted = this.release.count(30_000);
    for (const seed of this.release.seedsWhile(() => report.aborts < wanted, report.problems))
      await abortEverywhere(ground, seed, wanted, report);
    const { aborts, succeeded, problems } = report;
    return { figure: `${aborts} aborts, ${succeeded} came too late to stop anything`, problems };
  }

  async #withPool(work: (pool: Pool<SharedJobs<P>>) => Promise<Outcome>): Promise<Outcome> {
    const pool = this.makePool();
    try {
      return await work(pool);
    } finally {
      pool.close();
    }
  }
}

/** Summarizes the trials of changes. */
export function trialOutcome({ faults, survived, unknown, problems }: TrialReport): Outcome {
  const figure = `${faults} faults, ${survived} operations succeeded in spite of them, ${unknown} outcomes unknown`;
  return { figure, problems };
}
