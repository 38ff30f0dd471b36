import { Random } from '@scratchfs/testkit';
import { expect, it } from 'vitest';
import { CHANGES } from './host-changes.js';
import { killOften } from './kills.js';

/** `npm run campaign -- host/kills` runs 5,000. */
const KILLS = Number(process.env['HOST_KILLS'] ?? 100);
const SEED = Number(process.env['HOST_SEED'] ?? 20261122);

it(`a directory is in its old or its new state when programs are killed in the middle of ${KILLS} changes, and nothing unfinished stays`, async () => {
  const { kills, problems } = await killOften(CHANGES, KILLS, new Random(SEED), (count) => {
    if (count % 500 === 0) console.log(`${count} changes cut short by kill -9`);
  });
  expect(problems).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(KILLS);
}, 3_600_000);
