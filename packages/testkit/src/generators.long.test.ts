import { expect, test } from 'vitest';
import { steps } from './generators.js';
import { ModelFileSystem } from './model/model-file-system.js';
import { ALL_OPERATIONS, DISK_OPERATIONS, TARGET_KINDS } from './operations.js';
import { applySync, type Handles } from './play.js';

test('the same seed gives the same steps, another seed gives others', () => {
  const first = JSON.stringify([...steps(7, 500)]);
  expect(JSON.stringify([...steps(7, 500)])).toBe(first);
  expect(JSON.stringify([...steps(8, 500)])).not.toBe(first);
});

test('a run of 50,000 steps aims every path operation at every kind of target at least 20 times, and 40% succeed', () => {
  const aimed = new Map<string, number>();
  const model = new ModelFileSystem();
  const handles: Handles = new Map();
  let succeeded = 0;
  const byOperation = new Map<string, [number, number]>();
  for (const step of steps(1, 50_000)) {
    if (step.target !== undefined) {
      const key = `${step.op} ${step.target}`;
      aimed.set(key, (aimed.get(key) ?? 0) + 1);
    }
    const outcome = applySync(model, step, handles);
    const tally = byOperation.get(step.op) ?? [0, 0];
    tally[1] += 1;
    if (!('error' in outcome)) {
      succeeded += 1;
      tally[0] += 1;
    }
    byOperation.set(step.op, tally);
  }
  if (process.env.SCRATCHFS_VERBOSE !== undefined) {
    for (const [op, [ok, all]] of byOperation) console.log(op, ok, all);
    console.log(succeeded);
  }
  const onHandles = ['read', 'write', 'close'];
  const onPaths = DISK_OPERATIONS.filter((op) => !op.startsWith('handle') && !onHandles.includes(op));
  const kinds = TARGET_KINDS.filter((kind) => !['own-ancestor', 'own-descendant', 'same'].includes(kind));
  const rare = onPaths
    .flatMap((op) => kinds.map((kind) => `${op} ${kind}`))
    .filter((key) => (aimed.get(key) ?? 0) < 20);
  expect(rare).toEqual([]);
  expect(succeeded / 50_000).toBeGreaterThan(0.4);
}, 600_000);

test('every operation occurs where all are asked for, and every step survives JSON', () => {
  const made = [...steps(3, 5_000, { operations: ALL_OPERATIONS })];
  expect(new Set(made.map((step) => step.op)).size).toBe(ALL_OPERATIONS.length);
  expect(JSON.parse(JSON.stringify(made))).toEqual(made);
});
