import { expect, it } from 'vitest';
import { Pace, workDone } from './adaptive-batch-size.js';
import { MAX_WORK } from './batch-cost.js';

it('a pace slows down where work is dear, and goes up again by no more than twice', () => {
  const pace = new Pace(MAX_WORK);
  pace.learn(MAX_WORK, 3_660);
  expect(pace.most).toBe(160);
  pace.learn(160, 160);
  expect(pace.most).toBe(320);
  pace.learn(320, 320);
  pace.learn(MAX_WORK, 320);
  expect(pace.most).toBe(MAX_WORK);
});

it('a pace begins with what is safe where every write copies what a checkpoint shares, and grows as the server says', () => {
  const pace = new Pace();
  // Eight new names: a page of 128 references, a bucket of 12 and what the way there takes, for each, are some 1,200.
  expect(pace.most).toBeLessThanOrEqual(80);
  for (const more of [160, 320, MAX_WORK]) {
    pace.learn(pace.most, 70);
    expect(pace.most).toBe(more);
  }
});

it('a pace never stands still, and small requests do not change it', () => {
  const pace = new Pace(200);
  pace.learn(11, 10_000);
  expect(pace.most).toBe(200);
  pace.learn(200, 1_000_000);
  expect(pace.most).toBe(80);
});

it('a pace goes up again where one operation is more than half of what a request may have', () => {
  const pace = new Pace(80);
  pace.learn(50, 70);
  expect(pace.most).toBe(160);
});

it('a pace learns nothing from what was refused', () => {
  const pace = new Pace(80);
  const operations = [{ work: 40 }, { work: 40 }];
  for (let i = 0; i < 4; i++) pace.learn(workDone(operations, ['c1', 'l']), 0);
  expect(pace.most).toBe(80);
  expect(workDone(operations, ['o7', 'c1'])).toBe(40);
  pace.learn(workDone(operations, ['o7', 'o8']), 80);
  expect(pace.most).toBe(160);
});
