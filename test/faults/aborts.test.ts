import { expect, test } from 'vitest';
import { type AbortReport, abortEveryChange } from './aborts.js';

test('an abort at any call of any change settles within a second, has all or no effect, and leaves no listener', async () => {
  const report: AbortReport = { aborts: 0, succeeded: 0, problems: [] };
  for (let seed = 1; seed <= 2; seed++) await abortEveryChange(seed, report);
  expect(report.problems).toEqual([]);
  expect(report.aborts).toBeGreaterThan(200);
  expect(report.succeeded).toBeGreaterThan(10);
});
