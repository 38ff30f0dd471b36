import type { ObjectStore } from '@scratchfs/core/object-tree';
import { alteredStore } from '@scratchfs/testkit';
import { expect, it } from 'vitest';
import { runTreeModel } from './testing/tree-model.js';

const RUNS = 25;

it('a filesystem, its checkpoints and forks match the model, whichever client collects garbage and however requests fail', async () => {
  const sum = { changes: 0, forks: 0, rollbacks: 0, deleted: 0 };
  for (let seed = 1; seed <= RUNS; seed++) {
    const run = await runTreeModel(seed);
    expect(run.problems).toEqual([]);
    sum.changes += run.changes;
    sum.forks += run.forks;
    sum.rollbacks += run.rollbacks;
    sum.deleted += run.deleted;
  }
  expect(sum.changes).toBeGreaterThan(10 * RUNS);
  expect(sum.forks).toBeGreaterThan(RUNS);
  expect(sum.rollbacks).toBeGreaterThan(RUNS / 2);
  expect(sum.deleted).toBeGreaterThan(RUNS);
});

it('the model notices a collector that deletes the objects of forks', async () => {
  const forgetful = (store: ObjectStore): ObjectStore =>
    alteredStore(store, {
      list: async (prefix, cursor) => {
        const page = await store.list(prefix, cursor);
        if (prefix === 'forks/') await store.delete(page.names);
        return page;
      },
    });
  const problems: string[] = [];
  for (let seed = 1; seed <= 5; seed++) problems.push(...(await runTreeModel(seed, forgetful)).problems);
  expect(problems.join()).toContain('forks/');
});
