import { describe, expect, it } from 'vitest';
import { compareForms } from '../../differential/forms.js';
import type { AbortReport } from '../../faults/aborts.js';
import { abortEverywhere } from '../../faults/remote/abort.js';
import { checkSharedHistory } from '../../faults/remote/shared-history.js';
import { abortGround } from './aborts.js';
import { onTree } from './forms.js';
import { freshPlace, localPool, mapRemote } from './remote.js';

const LONG = { timeout: 300_000 };

describe('Clients of an object tree over a store in memory', () => {
  it('behave exactly like a filesystem in memory, times and counters included', LONG, async () => {
    const { difference, operations } = await compareForms(20_261_124, 2_000, onTree);
    expect([difference, operations]).toEqual([undefined, 2_000]);
  });

  const history = (seed: number, options: Parameters<typeof checkSharedHistory>[4]): Promise<string[]> =>
    checkSharedHistory(mapRemote, localPool(3), freshPlace(), seed, options);

  it('are linearizable', LONG, async () => {
    expect(await history(1, { operations: 25 })).toEqual([]);
  });

  it('are linearizable with lost, delayed or duplicated requests and damaged responses', LONG, async () => {
    expect(await history(2, { operations: 25, faults: 0.03 })).toEqual([]);
  });

  it('are not linearizable if one ignores all checks, and the checker notices', LONG, async () => {
    let found: string[] = [];
    for (let seed = 3; seed <= 10 && found.length === 0; seed++)
      found = await history(seed, { operations: 25, bug: 'ignores all checks' });
    expect(found).not.toEqual([]);
  });

  it('settle within a second of an abort, all or nothing, and leave no listener', LONG, async () => {
    const report: AbortReport = { aborts: 0, succeeded: 0, problems: [] };
    const ground = await abortGround(['append', 'rm -r', 'checkpoint', 'rollback', 'drop a checkpoint']);
    await abortEverywhere(ground, 1, 100, report);
    expect(report.problems).toEqual([]);
    expect(report.aborts).toBeGreaterThan(20);
    expect(report.succeeded).toBeGreaterThan(0);
  });
});
