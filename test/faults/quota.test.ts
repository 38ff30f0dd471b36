import { expect, test } from 'vitest';
import { type QuotaReport, raceAtLimits, raceInMemory } from './quota.js';

test('16 writers never exceed a limit, and the counters equal a recount', async () => {
  const report: QuotaReport = { operations: 0, refused: 0, gaveUp: 0, problems: [] };
  for (let seed = 1; seed <= 3; seed++) await raceAtLimits(seed, 25, report);
  for (let seed = 1; seed <= 10; seed++) await raceInMemory(seed, 100, report);
  expect(report.problems).toEqual([]);
  expect(report.operations).toBeGreaterThan(1_000);
  expect(report.refused).toBeGreaterThan(report.operations / 20);
});
