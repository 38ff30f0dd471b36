import { Random } from '@scratchfs/testkit';
import { expect, it } from 'vitest';
import { killAccepts } from './accept-kills.js';

/** `npm run campaign -- workspace/accept-kills` runs 300. */
const ACCEPTS = Number(process.env['ACCEPT_KILLS'] ?? 10);
const SEED = Number(process.env['ACCEPT_SEED'] ?? 20261126);

it(`an accept and its undo happen completely or not at all, in the log too, when the program is killed during ${ACCEPTS} of them`, async () => {
  const { problems, ...killed } = await killAccepts(ACCEPTS, new Random(SEED));
  expect(problems).toEqual([]);
  if (ACCEPTS >= 100) console.log(`Killed before, within and after the writes: ${JSON.stringify(killed)}`);
}, 3_600_000);
