import type { Subject } from '../subjects/subject.js';
import { content, NEW } from './layout.js';
import { done, sum, type Work } from './work.js';

const APPENDS = 10_000;

const appends = (title: string, isKept: boolean): Work => ({
  title,
  unit: 'ns',
  passes: 6,
  warmUp: 3,
  fits: (subject) => !isKept || (subject.checkpoint !== undefined && subject.copiesAll !== true),
  prepare: async (make) => {
    let subject = await make();
    await subject.write('/log', new Uint8Array(0));
    const line = content(1024);
    const append = async (): Promise<number> => {
      await sum(subject, APPENDS, () => {
        if (isKept) kept.push(subject.checkpoint?.());
        return done(subject.append('/log', line));
      });
      return subject.size('/log');
    };
    const kept: unknown[] = [];
    const renew = async (): Promise<void> => {
      kept.length = 0;
      subject = await make();
      await subject.write('/log', new Uint8Array(0));
    };
    return { operations: APPENDS, run: append, expected: APPENDS * line.length, renew };
  },
});

const BIG = 64 * 1024 * 1024;
const BLOCK = content(4096, NEW);
const PLACES = 4_000;

/** Writes of 4 KB at random positions of a file of 64 MB. */
const places: Work = {
  title: '4 KB at random places of 64 MB',
  unit: 'ns',
  passes: 6,
  warmUp: 3,
  fits: (subject) => subject.writer !== undefined,
  prepare: async (make) => {
    const subject = await make();
    await subject.write('/big', content(BIG));
    const write = (subject.writer as NonNullable<Subject['writer']>)('/big');
    return {
      operations: PLACES,
      run: async () => {
        for (let i = 0; i < PLACES; i++) {
          const written = write(BLOCK, placeOf(i));
          if (subject.isAsync) await written;
        }
        return subject.size('/big');
      },
      expected: BIG,
      holds: () => isWritten(subject, PLACES),
    };
  },
};

/** Writes blocks at the same positions, while a checkpoint shares the whole file. */
const firstTouch: Work = {
  title: '4 KB into 64 MB, first touch after a checkpoint',
  unit: 'ns',
  passes: 6,
  warmUp: 3,
  fits: (subject) => subject.writer !== undefined && subject.fork !== undefined && subject.copiesAll !== true,
  prepare: async (make) => {
    const subject = await make();
    await subject.write('/big', content(BIG));
    const write = (subject.writer as NonNullable<Subject['writer']>)('/big');
    const checkpoints: unknown[] = [];
    const times = 400;
    return {
      operations: times,
      run: async () => {
        for (let i = 0; i < times; i++) {
          checkpoints.push(subject.checkpoint?.());
          write(BLOCK, placeOf(i));
        }
        return subject.size('/big');
      },
      expected: BIG,
      holds: () => isWritten(subject, times),
      renew: () => {
        for (const checkpoint of checkpoints.splice(0)) subject.drop?.(checkpoint);
      },
    };
  },
};

async function isWritten(subject: Subject, times: number): Promise<boolean> {
  const bytes = await subject.read('/big');
  for (let i = 0; i < times; i++)
    if (bytes[placeOf(i)] !== NEW || bytes[placeOf(i) + BLOCK.length - 1] !== NEW) return false;
  return true;
}

const placeOf = (index: number): number => ((index * 7919) % (BIG / 4096)) * 4096;

export const CONTENTS: readonly Work[] = [
  appends('append of 1 KB', false),
  appends('append of 1 KB, a checkpoint after each', true),
  places,
  firstTouch,
];
