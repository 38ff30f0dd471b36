import { afterAll, expect, it } from 'vitest';
import { killMerges, VICTIMS } from '../testing/kill-merges.js';
import { SampleFolders } from '../testing/sample-repository.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());

const ROUNDS = Number(process.env['MERGE_KILLS'] ?? 24);

it.skipIf(process.platform !== 'linux')(
  'a merge that is killed at any moment leaves the repository as it was or complete',
  async () => {
    let seed = Number(process.env['SEED'] ?? 1);
    const random = (): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
      return seed / 0x80000000;
    };
    const report = await killMerges(folders, random, ROUNDS);
    if (ROUNDS > 24) console.log(report);
    for (const victim of VICTIMS) expect(report[victim].before + report[victim].after).toBe(ROUNDS / VICTIMS.length);
  },
  30_000 + ROUNDS * 3_000,
);
