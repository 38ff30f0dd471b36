import { expect, it } from 'vitest';
import { AdaptiveBatchSize, appliedCost } from './adaptive-batch-size.js';
import { MAX_REQUEST_COST } from './batch-cost.js';

it('the batch size shrinks when work is expensive, and at most doubles when it is not', () => {
  const size = new AdaptiveBatchSize(MAX_REQUEST_COST);
  size.adapt(MAX_REQUEST_COST, 3_660);
  expect(size.maxCost).toBe(160);
  size.adapt(160, 160);
  expect(size.maxCost).toBe(320);
  size.adapt(320, 320);
  size.adapt(MAX_REQUEST_COST, 320);
  expect(size.maxCost).toBe(MAX_REQUEST_COST);
});

it('the batch size starts safe for data shared with a checkpoint, and grows with the server’s reports', () => {
  const size = new AdaptiveBatchSize();
  // Eight new names cost about 1,200 references: for each a page of 128, a bucket of 12 and the path to them.
  expect(size.maxCost).toBeLessThanOrEqual(80);
  for (const more of [160, 320, MAX_REQUEST_COST]) {
    size.adapt(size.maxCost, 70);
    expect(size.maxCost).toBe(more);
  }
});

it('the batch size has a minimum, and small requests do not change it', () => {
  const size = new AdaptiveBatchSize(200);
  size.adapt(11, 10_000);
  expect(size.maxCost).toBe(200);
  size.adapt(200, 1_000_000);
  expect(size.maxCost).toBe(80);
});

it('the batch size grows after an operation that fills more than half of it', () => {
  const size = new AdaptiveBatchSize(80);
  size.adapt(50, 70);
  expect(size.maxCost).toBe(160);
});

it('refused operations do not change the batch size', () => {
  const size = new AdaptiveBatchSize(80);
  const operations = [{ cost: 40 }, { cost: 40 }];
  for (let i = 0; i < 4; i++) size.adapt(appliedCost(operations, ['c1', 'l']), 0);
  expect(size.maxCost).toBe(80);
  expect(appliedCost(operations, ['o7', 'c1'])).toBe(40);
  size.adapt(appliedCost(operations, ['o7', 'o8']), 80);
  expect(size.maxCost).toBe(160);
});
