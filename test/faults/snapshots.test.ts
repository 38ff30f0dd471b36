import { expect, test } from 'vitest';
import { snapshotsUnderWriter } from './snapshots.js';

for (const [where, onMemory] of [
  ['memory', true],
  ['a storage far away', false],
] as const) {
  test(`G9: snapshots of ${where} are points in time while two files change together and restores happen`, async () => {
    let snapshots = 0;
    for (let seed = 1; seed <= 5; seed++) {
      const report = await snapshotsUnderWriter(seed, 20, onMemory);
      expect(report.problems).toEqual([]);
      snapshots += report.snapshots;
    }
    expect(snapshots).toBe(100);
  }, 60_000);
}
