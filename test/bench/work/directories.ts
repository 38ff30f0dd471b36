import type { Subject } from '../subjects/subject.js';
import { directoryAt, fileAt, fill, type Layout, SMALL } from './layout.js';
import { done, sum, type Work } from './work.js';

const WIDE: Layout = { files: 100_000, directories: 100, isLong: true };

const wide = (title: string, each: number, list: (subject: Subject, path: string) => unknown): Work => ({
  title: `${title} of 1,000`,
  unit: 'µs',
  passes: 6,
  warmUp: 3,
  fits: (subject) => subject.countFiles !== undefined || each === WIDE_NAMES,
  prepare: async (make) => {
    const subject = await fill(await make(), WIDE);
    return {
      operations: WIDE.directories,
      run: () => sum(subject, WIDE.directories, (i) => list(subject, directoryAt(WIDE, i))),
      expected: each * WIDE.directories,
    };
  },
});

const WIDE_NAMES = 1_000;

/** Moves a directory of `files` files back and forth. */
const renameOf = (files: number): Work => ({
  title: `rename of a directory of ${files / 1000}k files`,
  unit: 'µs',
  passes: 2,
  fits: () => true,
  prepare: async (make) => {
    const layout: Layout = { files, directories: files / 100, isLong: true };
    const subject = await fill(await make(), layout);
    const backAndForth = (a: string, b: string, times: number) =>
      sum(subject, times, (i) => done(i % 2 === 0 ? subject.rename(a, b) : subject.rename(b, a)));
    // Some peers take so long for a large one that one pass would not compile the code.
    await subject.mkdir('/small');
    await backAndForth('/small', '/renamed', 4_000);
    const times = 20;
    const holds = async () => (await subject.size(fileAt(layout, 0))) === SMALL && !(await subject.exists('/u'));
    return { operations: times, run: () => backAndForth('/t', '/u', times), expected: 0, holds };
  },
});

const TREE: Layout = { files: 100_000, directories: 1_000, isLong: true };

const LAST = fileAt(TREE, TREE.files - 1);

interface Whole {
  readonly run: (subject: Subject) => unknown;
  readonly holds?: (subject: Subject) => Promise<boolean>;
  readonly renew?: (subject: Subject) => Promise<unknown>;
  readonly expected?: number;
}

const whole = (title: string, passes: number, { run, holds, renew, expected = 0 }: Whole): Work => ({
  title: `${title} of 100k files`,
  unit: 'ns',
  passes,
  warmUp: passes / 2,
  fits: (subject) => expected === 0 || subject.countAll !== undefined,
  prepare: async (make) => {
    const subject = await fill(await make(), TREE);
    return {
      operations: TREE.files,
      run: () => sum(subject, 1, () => run(subject)),
      expected,
      holds: async () => (await holds?.(subject)) ?? true,
      renew: async () => void (await renew?.(subject)),
    };
  },
});

/** Operations on directories and whole trees. */
export const DIRECTORIES: readonly Work[] = [
  wide('readdir', WIDE_NAMES, (subject, path) => subject.list(path)),
  wide('readdir with types', WIDE_NAMES, (subject, path) => subject.countFiles?.(path)),
  whole('walk', 8, { run: (subject) => subject.countAll?.('/t'), expected: TREE.files + TREE.directories }),
  renameOf(10_000),
  renameOf(100_000),
  whole('rm -r', 4, {
    run: (subject) => done(subject.remove('/t')),
    holds: async (subject) => !(await subject.exists('/t')),
    renew: (subject) => fill(subject, TREE),
  }),
  whole('cp -r', 8, {
    run: (subject) => done(subject.copy('/t', '/u')),
    holds: async (subject) => (await subject.size(LAST.replace('/t', '/u'))) === SMALL,
    renew: async (subject) => subject.remove('/u'),
  }),
];

export const LARGE_DIRECTORIES: readonly Work[] = [renameOf(1_000_000)];
