import { collectGarbage } from '../garbage.js';
import { content } from './layout.js';
import type { Work } from './work.js';

const FILES = 1_000;
const BYTES = 4_000;
const ROUNDS = 50;

/**
 * Rewrites all files repeatedly, with a checkpoint each time of which only the last is kept: 8 MB are live. The figure
 * is the maximum of retained content bytes after any round, garbage collected.
 */
export const churn: Work = {
  title: 'most bytes held while 8 MB are written anew 50 times under checkpoints',
  unit: 'MB',
  passes: 1,
  fits: (subject) => subject.drop !== undefined,
  prepare: async (make) => {
    const subject = await make();
    let most = 0;
    return {
      operations: FILES * ROUNDS,
      run: async () => {
        const before = held();
        let last: unknown;
        for (let round = 0; round < ROUNDS; round++) {
          for (let i = 0; i < FILES; i++) await subject.write(`/f${i}`, content(BYTES, round));
          const next = subject.checkpoint?.();
          if (last !== undefined) subject.drop?.(last);
          last = next;
          most = Math.max(most, held() - before);
        }
        return subject.size('/f0');
      },
      expected: BYTES,
      most: () => most,
    };
  },
};

function held(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}
