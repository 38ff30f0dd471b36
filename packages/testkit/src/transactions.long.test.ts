import { asyncForm, type FileSystem, openFileSystem } from '@scratchfs/core';
import { overlay } from '@scratchfs/core/layers';
import { describe, expect, it } from 'vitest';
import { differences, dump } from './dump.js';
import { steps } from './generators.js';
import { memoryFileSystem, memoryStorage } from './memory-file-system.js';
import type { Step } from './operations.js';
import type { Outcome } from './outcome.js';
import { apply, type Handles } from './play.js';
import { promisesOnly } from './promises-only.js';
import { Random } from './random.js';

/**
 * Seeds, each with the time at which other clients write: before everything that the transaction does, or during it.
 */
const SEEDS: readonly (readonly [seed: number, when: 'before' | 'meanwhile'])[] = [
  [1, 'before'],
  [2, 'meanwhile'],
];
const ROUNDS = 100;

interface Tally {
  /** Transactions that changed something beside others that did, in one run. */
  beside: number;
  /** Transactions that ran again. */
  again: number;
}

type Base = (clock: () => number, fill: (fs: FileSystem) => Promise<void>) => Promise<FileSystem>;

/**
 * Transactions with other writers in between. The result of each must be that of its steps, played one after another on
 * the state right before its end: each step's result and the final state. Only the times of concurrent changes by
 * others are not undone.
 */
async function play(seed: number, when: 'before' | 'meanwhile', make: Base): Promise<Tally> {
  let now = 0;
  const random = new Random(seed);
  const script = steps(seed, 100_000);
  const outside: Handles = new Map();
  const draw = (count: number): Step[] => Array.from({ length: count }, () => script.next().value as Step);
  const fs = await make(
    () => now,
    async (base) => {
      for (const step of draw(150)) await apply(base, step, new Map());
    },
  );
  const tally: Tally = { beside: 0, again: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const inside = draw(1 + random.below(6));
    const others = draw(random.below(8));
    const begin = now + 1;
    const playAll = async (state: FileSystem, between: () => Promise<void>): Promise<Outcome[]> => {
      const handles: Handles = new Map();
      const results: Outcome[] = [];
      for (const [i, step] of inside.entries()) {
        now = begin + i;
        results.push(await apply(state, step, handles));
        await between();
      }
      return results;
    };
    const first = await fs.fork();
    let last = first;
    let runs = 0;
    const results = await fs.transaction(async (inner) => {
      runs += 1;
      const played = await playAll(inner, async () => {
        if (when === 'before') now = begin - 1;
        while (others.length > 0 && random.chance(0.7)) await apply(fs, others.shift() as Step, outside);
      });
      if (when === 'before') now = begin - 1;
      for (const step of others.splice(0)) await apply(fs, step, outside);
      now = begin + inside.length - 1;
      last = await fs.fork();
      return played;
    });
    const [before, after] = [await dump(last), await dump(fs)];
    const changed = differences(before, after).length > 0;
    const expected = await playAll(last, async () => {});
    const left = differences(after, await dump(last)).filter((text) => when === 'before' || !isLaterTime(text));
    const where = `seed ${seed} round ${round}: ${JSON.stringify(inside)}`;
    const isOfTheEnd = left.length === 0 && JSON.stringify(expected) === JSON.stringify(results);
    // A transaction that changed nothing may have read the state at its start instead.
    if (!changed && !isOfTheEnd) expect(results, where).toEqual(await playAll(await first.fork(), async () => {}));
    else expect({ results, left }, where).toEqual({ results: expected, left: [] });
    if (runs > 1) tally.again += 1;
    else if (changed && differences(await dump(first), before).length > 0) tally.beside += 1;
  }
  return tally;
}

/** Reports whether a difference is only a time that another client wrote after the transaction, which stays. */
function isLaterTime(difference: string): boolean {
  const [, actual, expected] = / (?:modifiedAt|changedAt): (\d+) \| (\d+)$/.exec(difference) ?? [];
  return Number(actual) > Number(expected);
}

const BASES: Readonly<Record<string, Base>> = {
  'in memory': async (clock, fill) => {
    const fs = memoryFileSystem({ clock });
    await fill(fs);
    return fs;
  },
  'over a far storage': async (clock, fill) => {
    const fs = await openFileSystem(asyncForm(memoryStorage({ clock }), { clock }), { clock });
    await fill(fs);
    return fs;
  },
  'over what lies beneath': async (clock, fill) => {
    const fs = memoryFileSystem({ clock });
    await fill(fs);
    return overlay(fs, { clock });
  },
  'over what lies beneath and has to be waited for': async (clock, fill) => {
    const fs = memoryFileSystem({ clock });
    await fill(fs);
    return overlay(promisesOnly(fs), { clock });
  },
};

describe('a transaction beside other writers is as if all of it happened at its end', () => {
  it.each(Object.entries(BASES))('%s', async (_, make) => {
    const tally: Tally = { beside: 0, again: 0 };
    for (const [seed, when] of SEEDS) {
      const { beside, again } = await play(seed, when, make);
      tally.beside += beside;
      tally.again += again;
    }
    expect(tally.beside).toBeGreaterThan(30);
    expect(tally.again).toBeGreaterThan(10);
  });
});
