import { LIMITS, over, type QuotaReport } from '../../faults/quota.js';
import { openBackend, type Place, stateAt } from '../clients.js';
import type { ProcessPool } from '../processes/process-pool.js';

const WRITERS = 16;

/** 16 writers in all processes of the pool at the limits of one filesystem; its totals are looked at all the time. */
export async function raceAcrossProcesses(
  pool: ProcessPool,
  place: Place,
  seed: number,
  perWriter: number,
  report: QuotaReport,
): Promise<void> {
  const backend = openBackend(place);
  const problem = (text: string): void => {
    report.problems.push(`seed ${seed}: ${text}`);
  };
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      const [facts] = await backend.load([{ kind: 'path', path: '/', content: 0 }]);
      const totals = facts?.kind === 'path' ? facts.nodes[0]?.directory?.totals : undefined;
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
  const { stats, entries } = await stateAt(place);
  if (over(stats.totalSize, stats.nodeCount)) problem(`${JSON.stringify(stats)} at the end`);
  for (const { path, size, kind } of entries)
    if (kind === 'file' && size > (LIMITS.maxFileSize as number)) problem(`${path} has ${size} bytes`);
}
