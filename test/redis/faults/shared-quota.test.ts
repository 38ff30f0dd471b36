import { describe, expect, it } from 'vitest';
import type { QuotaReport } from '../../faults/quota.js';
import { raceAcrossProcesses } from '../../faults/remote/fill.js';
import { redisRemote } from '../remote.js';
import { hasOwnServer } from '../servers/test-server.js';
import { useProcesses, useServer } from './test-fixtures.js';

describe.skipIf(!hasOwnServer)('16 writers in 3 processes at the limits of one filesystem', () => {
  const on = useServer();
  const processes = useProcesses();

  it('never exceed a limit, and the counters equal a recount', { timeout: 600_000 }, async () => {
    const report: QuotaReport = { operations: 0, refused: 0, gaveUp: 0, problems: [] };
    await raceAcrossProcesses(redisRemote, processes.pool, on.place(), 1, 65, report);
    expect(report.problems).toEqual([]);
    expect(report.operations).toBeGreaterThanOrEqual(1_000);
    expect(report.refused).toBeGreaterThan(report.operations / 20);
  });
});
