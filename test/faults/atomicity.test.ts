import { expect, test } from 'vitest';
import { everyChange, type Report, randomSteps } from './atomicity.js';

test('every change under every fault at every call is all or nothing', async () => {
  const report: Report = { faults: 0, survived: 0, problems: [] };
  await everyChange(report);
  expect(report.problems).toEqual([]);
  expect(report.faults).toBeGreaterThan(1_000);
  expect(report.survived).toBeGreaterThan(report.faults / 4);
});

test('random steps of random histories under random faults are all or nothing', async () => {
  const report: Report = { faults: 0, survived: 0, problems: [] };
  await randomSteps(1, 150, report);
  expect(report.problems).toEqual([]);
  expect(report.faults).toBeGreaterThanOrEqual(150);
});
