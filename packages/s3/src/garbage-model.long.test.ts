import { expect, it } from 'vitest';
import { runGarbageModel } from './testing/garbage-model.js';

/** SCRATCHFS_MODEL_RUNS=4000 before a release. */
const RUNS = Number(process.env.SCRATCHFS_MODEL_RUNS ?? 40);
const FIRST = Number(process.env.SCRATCHFS_MODEL_SEED ?? 1);

it('acknowledged writes are applied once, however late requests arrive and whichever client collects garbage', {
  timeout: 60_000 + RUNS * 1_000,
}, async () => {
  let deleted = 0;
  let written = 0;
  for (let seed = FIRST; seed < FIRST + RUNS; seed++) {
    const run = await runGarbageModel(seed);
    expect(run.problems).toEqual([]);
    deleted += run.deleted;
    written += run.written;
  }
  expect(deleted).toBeGreaterThan(RUNS);
  expect(written).toBeGreaterThan(RUNS);
  console.log(`${RUNS} runs: ${written} writes acknowledged, ${deleted} objects deleted`);
});
