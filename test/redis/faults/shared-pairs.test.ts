import { describe, expect, it } from 'vitest';
import { type PairReport, snapshotsAcrossProcesses } from '../../faults/remote/pairs.js';
import { redisRemote } from '../remote.js';
import { hasOwnServer } from '../servers/test-server.js';
import { useProcesses, useServer } from './test-fixtures.js';

describe.skipIf(!hasOwnServer)(
  'a writer that keeps two files equal, beside other processes that restore snapshots',
  () => {
    const on = useServer();
    const processes = useProcesses();

    it('no snapshot and no reader sees only one of the two writes', { timeout: 600_000 }, async () => {
      const report: PairReport = { snapshots: 0, writes: 0, restores: 0, problems: [] };
      const isEnough = () => report.writes > 20 && report.restores > 5;
      for (let go = 0; go === 0 || (!isEnough() && go < 10); go++)
        await snapshotsAcrossProcesses(redisRemote, processes.pool, on.place(), 100, report);
      expect(report.problems).toEqual([]);
      expect(report.writes).toBeGreaterThan(20);
      expect(report.restores).toBeGreaterThan(5);
    });
  },
);
