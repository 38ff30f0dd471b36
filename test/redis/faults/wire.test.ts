import { describe, expect, it } from 'vitest';
import { emptyReport } from '../../faults/remote/trial.js';
import { hasOwnServer } from '../servers/test-server.js';
import { Scene } from './scene.js';
import { useServer } from './test-fixtures.js';
import { COMMAND_FAULTS, WireTrials } from './wire.js';

/** Timeout of a request in tests whose connections never fall silent: only a request that was cut may fail. */
const PATIENT_MS = 20_000;
const SOME_CHANGES = ['append', 'rm -r', 'transaction'];
const LONG_TIMEOUT = { timeout: 600_000 };

describe.skipIf(!hasOwnServer)('A change over a connection that fails', () => {
  const on = useServer();

  it('is all or nothing, whatever fault happens at whichever command', LONG_TIMEOUT, async () => {
    const report = emptyReport();
    const quick = COMMAND_FAULTS.filter((fault) => fault !== 'hang' && fault !== 'lost');
    await new WireTrials(await Scene.prepare(on.server, SOME_CHANGES), report).atEveryCommand(quick);
    expect(report.problems).toEqual([]);
    expect(report.faults).toBeGreaterThan(100);
    expect(report.survived).toBeGreaterThan(report.faults / 4);
  });

  it('is all or nothing if the server stops replying once', LONG_TIMEOUT, async () => {
    const report = emptyReport();
    await new WireTrials(await Scene.prepare(on.server, ['append']), report).atEveryCommand(['hang', 'lost'], [false]);
    expect(report.problems).toEqual([]);
    expect(report.faults).toBeGreaterThanOrEqual(2);
  });

  it('is all or nothing if its request is cut at any byte', LONG_TIMEOUT, async () => {
    const report = emptyReport();
    const trials = new WireTrials(await Scene.prepare(on.server, SOME_CHANGES), report, PATIENT_MS);
    await trials.atEveryByte('requests', { stride: 37 });
    expect(report.problems).toEqual([]);
    expect(report.faults).toBeGreaterThan(40);
    expect(report.unknown).toBe(0);
  });

  it('reports its true outcome if the reply is cut at any byte', LONG_TIMEOUT, async () => {
    const report = emptyReport();
    await new WireTrials(await Scene.prepare(on.server, ['append', 'rename']), report, PATIENT_MS).atEveryByte(
      'replies',
      {
        stride: 23,
      },
    );
    expect(report.problems).toEqual([]);
    expect(report.faults).toBeGreaterThan(40);
    expect(report.survived + report.unknown).toBe(report.faults);
  });
});
