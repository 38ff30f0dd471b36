import { Random } from '@scratchfs/testkit';
import { expect, it } from 'vitest';
import { killOften } from './kills.js';

/** 5,000 by `npm run test:kills`. */
const KILLS = Number(process.env['HOST_KILLS'] ?? 50);
const SEED = Number(process.env['HOST_SEED'] ?? 20261122);

it(`a directory is what it was or what it was to be when a program is killed ${KILLS} times in the middle, and nothing unfinished stays`, async () => {
  const { kills, problems } = await killOften(KILLS, new Random(SEED));
  expect(problems).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(KILLS);
}, 3_600_000);
