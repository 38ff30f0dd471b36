import type { Limits } from '@scratchfs/core';
import { Random } from '@scratchfs/testkit';
import { grow, LIMITS, over, type QuotaReport } from '../quota.js';
import type { Pool } from './process-pool.js';
import { type Remote, stateAt, withClient } from './remote.js';

const WRITERS = 16;

export interface Filling<P> {
  readonly place: P;
  readonly writers: readonly number[];
  readonly seed: number;
  readonly perWriter: number;
  readonly limits: Limits;
}

/** The jobs of a process that fills a filesystem up to its limits. */
export function fillJobs<P>(remote: Remote<P>) {
  return {
    /** Several writers, each with its own client. */
    async fill({ place, writers, seed, perWriter, limits }: Filling<P>): Promise<QuotaReport> {
      const report: QuotaReport = { operations: 0, refused: 0, gaveUp: 0, problems: [] };
      const filling = writers.map((writer) =>
        withClient(remote, place, (fs) => grow(fs, new Random(seed * 100 + writer), perWriter, report), { limits }),
      );
      await Promise.all(filling);
      return report;
    },
  };
}

/** Runs 16 writers in all workers of the pool at the limits of one filesystem and checks its totals continuously. */
export async function raceAcrossProcesses<P>(
  remote: Remote<P>,
  pool: Pool<ReturnType<typeof fillJobs<P>>>,
  place: P,
  seed: number,
  perWriter: number,
  report: QuotaReport,
): Promise<void> {
  const backend = remote.openBackend(place);
  const problem = (text: string): void => {
    report.problems.push(`seed ${seed}: ${text}`);
  };
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      const [result] = await backend.load([{ kind: 'path', path: '/', content: 0 }]);
      const totals = result?.kind === 'path' ? result.nodes[0]?.directory?.totals : undefined;
      if (totals === undefined) problem('the root has no totals');
      else if (over(totals.size, totals.files + totals.directories))
        problem(`${JSON.stringify(totals)} at some moment`);
    }
  })();
  try {
    const writers = Array.from({ length: WRITERS }, (_, writer) => writer);
    const reports = await pool.all('fill', (worker) => ({
      place,
      seed,
      perWriter,
      limits: LIMITS,
      writers: writers.filter((writer) => writer % pool.workers.length === worker),
    }));
    for (const { operations, refused, gaveUp, problems } of reports) {
      report.operations += operations;
      report.refused += refused;
      report.gaveUp += gaveUp;
      for (const text of problems) problem(text);
    }
  } finally {
    isOver = true;
    await looking;
    await backend.close();
  }
  const { stats, entries } = await stateAt(remote, place);
  if (over(stats.totalSize, stats.nodeCount)) problem(`${JSON.stringify(stats)} at the end`);
  for (const { path, size, kind } of entries)
    if (kind === 'file' && size > (LIMITS.maxFileSize as number)) problem(`${path} has ${size} bytes`);
}
