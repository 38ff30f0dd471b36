import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { QuotaReport } from '../../faults/quota.js';
import { raceAcrossProcesses } from '../../faults/remote/fill.js';
import { type PairReport, snapshotsAcrossProcesses } from '../../faults/remote/pairs.js';
import { ProcessPool } from '../../faults/remote/process-pool.js';
import { checkSharedHistory } from '../../faults/remote/shared-history.js';
import { JOBS, type Jobs } from '../processes/jobs.js';
import { s3Remote } from '../remote.js';
import { freshPlace, hasBucket } from '../servers/test-bucket.js';

const LONG = { timeout: 600_000 };

describe.skipIf(!hasBucket)('Clients in three processes', () => {
  let pool: ProcessPool<Jobs>;
  beforeAll(() => {
    pool = new ProcessPool(3, JOBS);
  });
  afterAll(() => pool.close());

  it('are linearizable', LONG, async () => {
    expect(await checkSharedHistory(s3Remote, pool, freshPlace(), 1, { operations: 25 })).toEqual([]);
  });

  it('are linearizable with failing requests', LONG, async () => {
    expect(await checkSharedHistory(s3Remote, pool, freshPlace(), 12, { operations: 15, faults: 0.02 })).toEqual([]);
  });

  it('are not linearizable if one ignores all checks, and the checker notices', LONG, async () => {
    let found: string[] = [];
    for (let seed = 1; seed <= 8 && found.length === 0; seed++)
      found = await checkSharedHistory(s3Remote, pool, freshPlace(), seed, {
        bug: 'ignores all checks',
        operations: 25,
      });
    expect(found).not.toEqual([]);
  });

  it('never exceed a limit with 16 writers, and the counters equal a recount', LONG, async () => {
    const report: QuotaReport = { operations: 0, refused: 0, gaveUp: 0, problems: [] };
    await raceAcrossProcesses(s3Remote, pool, freshPlace(), 1, 20, report);
    expect(report.problems).toEqual([]);
    expect(report.operations).toBeGreaterThanOrEqual(320);
    expect(report.refused).toBeGreaterThan(5);
  });

  it('never see a partial write or restore, in any snapshot or read', LONG, async () => {
    const report: PairReport = { snapshots: 0, writes: 0, restores: 0, problems: [] };
    for (let go = 0; go === 0 || (report.writes + report.restores <= 2 && go < 5); go++)
      await snapshotsAcrossProcesses(s3Remote, pool, freshPlace(), 3, report);
    expect(report.problems).toEqual([]);
    expect(report.writes + report.restores).toBeGreaterThan(2);
  });
});
