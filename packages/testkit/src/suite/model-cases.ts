import { differences, dump, dumpSync } from '../dump.js';
import { steps } from '../generators.js';
import { ModelFileSystem } from '../model/model-file-system.js';
import { ALL_OPERATIONS, DISK_OPERATIONS, type Step } from '../operations.js';
import { apply, applySync, type Handles } from '../play.js';
import { equal, fail, print } from './assert.js';
import type { Add } from './context.js';

const SEEDS = [1, 2, 3, 4, 5];
const COUNT = 600;

/** The same random operations on the filesystem and the model must give the same outcomes and the same state. */
export function modelCases(add: Add): void {
  for (const seed of SEEDS) {
    add(`${COUNT} random operations have the outcomes of the model (seed ${seed})`, async ({ fs, clock }) => {
      const model = new ModelFileSystem({ clock: clock.read });
      const operations = fs.capabilities.checkpoints ? ALL_OPERATIONS : DISK_OPERATIONS;
      const handles: [Handles, Handles] = [new Map(), new Map()];
      const played: Step[] = [];
      for (const step of steps(seed, COUNT, { operations })) {
        clock.advance(1);
        played.push(step);
        const expected = applySync(model, step, handles[1]);
        const actual = await apply(fs, step, handles[0]);
        try {
          equal(actual, expected);
          if (played.length % 100 === 0) equal(differences(await dump(fs), dumpSync(model)), []);
        } catch (error) {
          fail(`step ${played.length} of seed ${seed}, ${print(step)}: ${(error as Error).message}`);
        }
      }
      equal(differences(await dump(fs), dumpSync(model)), []);
    });
  }
}
