import { describe, expect, it } from 'vitest';
import { RACES, run } from './races.js';
import { whyNoRaces } from './swapper.js';

/** `npm run campaign -- host/races` runs 100,000 a race. */
const ITERATIONS = Number(process.env['RACE_ITERATIONS'] ?? 1000);
const { RACE: which, RACE_SEED: seed } = process.env;
const reason = whyNoRaces();
const chosen = RACES.filter(({ name }, i) => which === undefined || which === String(i + 1) || which === name);

describe.skipIf(reason !== undefined)(
  `against another process that swaps names${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    it('has the race that RACE selects by number or name', () => expect(chosen).not.toEqual([]));

    it.each(chosen.map((race) => [race.name, race] as const))(
      '%s: nothing outside is read, listed or changed',
      async (name, race) => {
        const begin = performance.now();
        const say = (calls: number, text: string): void => {
          const seconds = Math.round((performance.now() - begin) / 1000);
          if (ITERATIONS > 1000) console.log(`${name}: ${calls} of ${ITERATIONS} calls, ${text}, ${seconds} s`);
        };
        const { escapes, done, swaps } = await run(race, ITERATIONS, {
          seed: seed === undefined ? undefined : Number(seed),
          onCall: ({ calls, swaps, escapes }) => {
            if (calls % 5000 === 0) say(calls, `${swaps} swaps, ${escapes} escapes`);
          },
        });
        say(ITERATIONS, `${done} succeeded, ${swaps} swaps, ${escapes.length} escapes`);
        expect(escapes).toEqual([]);
        // A race in which no call succeeds, or in which no names change places, proves nothing.
        expect(done).toBeGreaterThan(ITERATIONS / 100);
        expect(swaps).toBeGreaterThan(ITERATIONS / 2);
      },
      3_600_000,
    );
  },
);
