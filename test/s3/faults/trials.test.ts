import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AbortReport } from '../../faults/aborts.js';
import { abortEverywhere } from '../../faults/remote/abort.js';
import { emptyReport } from '../../faults/remote/trial.js';
import { freshPlace, hasBucket } from '../servers/test-bucket.js';
import { abortsOn } from './aborts.js';
import { Scene } from './scene.js';
import { ALL_FAULTS, Trials } from './trials.js';

const LONG = { timeout: 600_000 };

describe.skipIf(!hasBucket)('A change whose requests fail', () => {
  let scene: Scene;
  const endpoint = hasBucket ? (freshPlace().endpoint ?? '') : '';
  beforeAll(async () => {
    scene = await Scene.prepare(['append', 'rm -r', 'transaction', 'rollback']);
  });
  afterAll(() => scene.close());

  it(
    'is all or nothing, applied once, and reports its true outcome, whatever fault happens at whichever request',
    LONG,
    async () => {
      const report = emptyReport();
      await new Trials(scene, endpoint, report).atEveryRequest(ALL_FAULTS, 1, 60);
      expect(report.problems).toEqual([]);
      expect(report.faults).toBeGreaterThanOrEqual(60);
      expect(report.survived).toBeGreaterThan(report.faults / 4);
    },
  );

  it('reports its true outcome if a response is cut at any byte', LONG, async () => {
    const report = emptyReport();
    await new Trials(scene, endpoint, report).atEveryByte(211);
    expect(report.problems).toEqual([]);
    expect(report.faults).toBeGreaterThan(12);
  });

  it('settles within a second of an abort, all or nothing, and leaves no listener', LONG, async () => {
    const report: AbortReport = { aborts: 0, succeeded: 0, problems: [] };
    // The number of aborts that come too late depends on the machine.
    for (let seed = 1; seed === 1 || (report.succeeded === 0 && seed <= 5); seed++)
      await abortEverywhere(abortsOn(scene, endpoint), seed, 30 * seed, report);
    expect(report.problems).toEqual([]);
    expect(report.aborts).toBeGreaterThanOrEqual(30);
    expect(report.succeeded).toBeGreaterThan(0);
  });
});
