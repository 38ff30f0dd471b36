import { expect, test } from 'vitest';
import { type SnapshotReport, snapshotsUnderWriter } from './snapshots.js';

for (const [where, onMemory] of [
  ['memory', true],
  ['a remote storage', false],
] as const) {
  test(`snapshots of ${where} show one state while two files change together and snapshots are restored`, async () => {
    const report: SnapshotReport = { snapshots: 0, gaveUp: 0, problems: [] };
    for (let seed = 1; seed <= 5; seed++) await snapshotsUnderWriter(seed, 20, onMemory, report);
    expect(report.problems).toEqual([]);
    expect(report.snapshots).toBe(100);
    expect(report.gaveUp).toBeLessThanOrEqual(1);
  });
}
