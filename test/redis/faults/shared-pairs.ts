import type { Place } from '../clients.js';
import { plantPair } from '../processes/pairs.js';
import type { ProcessPool } from '../processes/process-pool.js';

export interface PairReport {
  snapshots: number;
  writes: number;
  restores: number;
  readonly problems: string[];
}

/** A writer that keeps two files equal, another client that restores snapshots, and readers that take them, each in a process of its own. */
export async function snapshotsAcrossProcesses(
  pool: ProcessPool,
  place: Place,
  rounds: number,
  report: PairReport,
): Promise<void> {
  const [writer, restorer, ...readers] = pool.workers;
  if (writer === undefined || restorer === undefined || readers.length === 0)
    throw new Error('Three processes at least');
  await plantPair(place);
  const writing = writer.run('writePairs', place);
  const restoring = restorer.run('restorePairs', place);
  try {
    const seen = await Promise.all(readers.map((reader) => reader.run('readPairs', { place, rounds })));
    report.snapshots += rounds * readers.length;
    report.problems.push(...seen.flat());
  } finally {
    await Promise.all([writer.run('endPairs', undefined), restorer.run('endPairs', undefined)]);
    report.writes += await writing;
    report.restores += await restoring;
  }
}
