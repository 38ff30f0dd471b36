import { expect, it } from 'vitest';
import { AdaptiveBatchSize, appliedCost } from './adaptive-batch-size.js';
import { MAX_REQUEST_COST } from './batch-cost.js';

it('a pace slows down where work is dear, and goes up again by no more than twice', () => {
  const pace = new AdaptiveBatchSize(MAX_REQUEST_COST);
  pace.adapt(MAX_REQUEST_COST, 3_660);
  expect(pace.maxCost).toBe(160);
  pace.adapt(160, 160);
  expect(pace.maxCost).toBe(320);
  pace.adapt(320, 320);
  pace.adapt(MAX_REQUEST_COST, 320);
  expect(pace.maxCost).toBe(MAX_REQUEST_COST);
});

it('a pace begins with what is safe where every write copies what a checkpoint shares, and grows as the server says', () => {
  const pace = new AdaptiveBatchSize();
  // Eight new names: a page of 128 references, a bucket of 12 and what the way there takes, for each, are some 1,200.
  expect(pace.maxCost).toBeLessThanOrEqual(80);
  for (const more of [160, 320, MAX_REQUEST_COST]) {
    pace.adapt(pace.maxCost, 70);
    expect(pace.maxCost).toBe(more);
  }
});

it('a pace never stands still, and small requests do not change it', () => {
  const pace = new AdaptiveBatchSize(200);
  pace.adapt(11, 10_000);
  expect(pace.maxCost).toBe(200);
  pace.adapt(200, 1_000_000);
  expect(pace.maxCost).toBe(80);
});

it('a pace goes up again where one operation is more than half of what a request may have', () => {
  const pace = new AdaptiveBatchSize(80);
  pace.adapt(50, 70);
  expect(pace.maxCost).toBe(160);
});

it('a pace learns nothing from what was refused', () => {
  const pace = new AdaptiveBatchSize(80);
  const operations = [{ cost: 40 }, { cost: 40 }];
  for (let i = 0; i < 4; i++) pace.adapt(appliedCost(operations, ['c1', 'l']), 0);
  expect(pace.maxCost).toBe(80);
  expect(appliedCost(operations, ['o7', 'c1'])).toBe(40);
  pace.adapt(appliedCost(operations, ['o7', 'o8']), 80);
  expect(pace.maxCost).toBe(160);
});
