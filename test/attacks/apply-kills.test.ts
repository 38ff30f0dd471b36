import { Random } from '@scratchfs/testkit';
import { expect, it } from 'vitest';
import { APPLICATIONS } from './host-changes.js';
import { killOften } from './kills.js';

/** `npm run campaign -- host/apply-kills` runs 5,000. */
const KILLS = Number(process.env['APPLY_KILLS'] ?? 30);
const SEED = Number(process.env['APPLY_SEED'] ?? 20261126);

it(`changes are applied or undone when programs are killed in the middle of ${KILLS} calls of applyChanges(), and again in the middle of the recovery`, async () => {
  const { kills, problems } = await killOften(APPLICATIONS, KILLS, new Random(SEED), (count) => {
    if (count % 500 === 0) console.log(`${count} calls cut short by kill -9`);
  });
  expect(problems).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(KILLS);
}, 3_600_000);
