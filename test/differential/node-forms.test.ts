import { createFileSystem } from 'scratchfs';
import { describe, expect, it } from 'vitest';
import { campaign, printReport } from './campaign.js';
import { NO_NODE_CALL } from './node-calls.js';
import { BENEATH, compareNodeForms, NodeFsSubject } from './node-forms.js';

const SEED = 20_261_122;

describe('an object shaped like node:fs', () => {
  it('…Sync functions return and fail as node:fs does in a host folder, error messages included', {
    timeout: 600_000,
  }, () => {
    const report = campaign({
      seed: SEED,
      operations: 10_000,
      omit: NO_NODE_CALL,
      open: (ticks) => new NodeFsSubject(createFileSystem({ clock: ticks.clock }), ticks),
    });
    console.log(printReport(report));
    expect(report.found.map(({ text }) => text)).toEqual([]);
    expect(report.operations).toBe(10_000);
    expect(report.succeeded / report.operations).toBeGreaterThanOrEqual(0.4);
  });

  it.each([
    ['memory', 6_000],
    ['async engine', 4_000],
  ] as const)(
    'over %s, promises and callbacks do what …Sync functions do',
    {
      timeout: 600_000,
    },
    async (name, operations) => {
      const report = await compareNodeForms(SEED, operations, BENEATH[name]);
      expect(report.difference).toBeUndefined();
      expect(report.succeeded / report.operations).toBeGreaterThanOrEqual(0.4);
    },
  );

  it('the comparison finds a form that differs from the others', async () => {
    const report = await compareNodeForms(SEED, 2_000, (clock) => {
      const fileSystem = createFileSystem({ clock });
      const unlinkSync = fileSystem.unlinkSync.bind(fileSystem);
      let calls = 0;
      fileSystem.unlinkSync = (path) => (++calls === 10 ? undefined : unlinkSync(path));
      return fileSystem;
    });
    expect(report.difference).toMatch(/promise|callback/);
  });
});
