import { afterAll, expect, it } from 'vitest';
import { killMerges, VICTIMS } from '../testing/kill-merges.js';
import { SampleFolders } from '../testing/sample-repository.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());

/** Number of kills for each victim. */
const ROUNDS = Math.ceil(Number(process.env['MERGE_KILLS'] ?? 16) / VICTIMS.length) * VICTIMS.length;

it.skipIf(process.platform !== 'linux')(
  'a merge that is killed at any moment leaves the repository as it was or complete (needs /proc of Linux)',
  async () => {
    let seed = Number(process.env['SEED'] ?? 1);
    const random = (): number => {
      seed = (seed + 0x6d2b79f5) | 0;
      let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
    // On a machine that merges quickly, many kills may come too late.
    const kills = { caller: 0, finisher: 0, everything: 0, recoverer: 0 };
    for (let go = 0; go < 24 && Object.values(kills).includes(0); go++) {
      const report = await killMerges(folders, random, ROUNDS, (soFar) => console.log(JSON.stringify(soFar)));
      for (const victim of VICTIMS) {
        expect(report[victim].before + report[victim].after).toBe(ROUNDS / VICTIMS.length);
        kills[victim] += report[victim].kills;
      }
    }
    for (const victim of VICTIMS) expect(kills[victim], victim).toBeGreaterThan(0);
  },
  60_000 + ROUNDS * 60_000,
);
