import { describe, expect, it } from 'vitest';
import { RACES, run } from './races.js';
import { whyNoRaces } from './swapper.js';

/** 100,000 a race by `npm run test:races`. */
const ITERATIONS = Number(process.env['RACE_ITERATIONS'] ?? 1000);
/** What builds a tree and starts a process each time is done less often. */
const PREPARED = Math.ceil(ITERATIONS / 2);
const reason = whyNoRaces();

describe.skipIf(reason !== undefined)(
  `against another process that swaps names${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    it.each(RACES.map((race) => [race.name, race] as const))(
      '%s: nothing outside is read, listed or changed',
      async (name, race) => {
        const iterations = race.prepare === undefined ? ITERATIONS : PREPARED;
        const isLong = ITERATIONS > 1000;
        const { escapes, done, swaps } = await run(race, iterations, (calls, found) => {
          if (isLong && calls % 5000 === 0) console.log(`${name}: ${calls} of ${iterations} calls, ${found} escapes`);
        });
        if (isLong) console.log(`${name}: ${iterations} calls, ${done} succeeded, ${swaps} swaps`);
        expect(escapes).toEqual([]);
        // A race in which nothing ever succeeds is none, nor is one in which names stay where they are.
        expect(done).toBeGreaterThan(iterations / 100);
        expect(swaps).toBeGreaterThan(iterations / 2);
      },
      3_600_000,
    );
  },
);
