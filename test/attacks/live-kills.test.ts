import { Random } from '@scratchfs/testkit';
import { expect, it } from 'vitest';
import { killOperations } from './live-kills.js';

/** `npm run campaign -- workspace/live-kills` runs 300. */
const KILLS = Number(process.env['LIVE_KILLS'] ?? 20);
const SEED = Number(process.env['LIVE_SEED'] ?? 20261126);

it(`each operation of a live attempt is on the disk and in the log or in neither, with two processes of which one is killed, ${KILLS} times`, async () => {
  const { problems, ...killed } = await killOperations(KILLS, new Random(SEED));
  expect(problems).toEqual([]);
  if (KILLS >= 100) console.log(`Killed: ${JSON.stringify(killed)}`);
}, 3_600_000);
