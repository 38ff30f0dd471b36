import type { Subject } from '../subjects/subject.js';
import { content, fileAt, fill, type Layout } from './layout.js';
import { plant, sourceTree } from './source-tree.js';
import type { Work } from './work.js';

const versioned = (subject: Subject): boolean => subject.fork !== undefined;

/** Returns how often a subject runs an operation in some hundred milliseconds; once for those that copy everything. */
const times = (subject: Subject, isFast: number): number => (subject.copiesAll === true ? 1 : isFast);

interface Step {
  readonly title: string;
  /** Directory of the new files. */
  readonly directory: string;
  readonly each: (subject: Subject, path: string) => void;
  /** True if the original keeps the written change afterwards. */
  readonly isKept: boolean;
}

const bytes = content();

const over = (files: number, directories: number, { title, directory, each, isKept }: Step, count: number): Work => ({
  title: `${title}, ${files / 1000}k files`,
  unit: 'µs',
  passes: 4,
  warmUp: 2,
  fits: versioned,
  prepare: async (make) => {
    const layout: Layout = { files, directories, isLong: true };
    const subject = await fill(await make(), layout);
    const operations = times(subject, count);
    const newAt = (index: number) => `${directory}/new-${index}`;
    let from = 0;
    return {
      operations,
      run: async () => {
        for (let i = 0; i < operations; i++) each(subject, newAt(from + i));
        return subject.size(fileAt(layout, 0));
      },
      expected: bytes.length,
      holds: async () => (await subject.exists(newAt(from))) === isKept,
      renew: () => {
        from += operations;
      },
    };
  },
});

const rollback = (files: number): Work =>
  over(
    files,
    files / 100,
    {
      title: 'checkpoint, a write, rollback',
      directory: '/t',
      each: (subject, path) => {
        const before = subject.checkpoint?.();
        subject.write(path, bytes);
        subject.rollback?.(before);
      },
      isKept: false,
    },
    2_000,
  );

const fork = (files: number): Work =>
  over(
    files,
    files / 100,
    {
      title: 'fork and 10 writes',
      directory: '/t',
      each: (subject, path) => {
        const forked = subject.fork?.();
        for (let i = 0; i < 10; i++) forked?.write(path.slice(0, -1) + i, bytes);
      },
      isKept: false,
    },
    500,
  );

const wide: Work = over(
  100_000,
  1,
  {
    title: 'a write into one directory, a checkpoint before each',
    directory: '/t/directory-of-components-0000',
    each: (subject, path) => {
      subject.checkpoint?.();
      subject.write(path, bytes);
    },
    isKept: true,
  },
  1_000,
);

/** Copies of the source tree, for some tens of megabytes. */
const COPIES = 8;

const blob = (title: string, restore?: 'load' | 'adopt'): Work => {
  const tree = sourceTree();
  const total = [...tree.values()].reduce((sum, { length }) => sum + length, 0) * COPIES;
  return {
    title,
    unit: 'MB/s',
    bytes: total,
    passes: 12,
    warmUp: 6,
    fits: (subject) => subject.save !== undefined && (restore === undefined || subject[restore] !== undefined),
    prepare: async (make) => {
      const subject = await make();
      const paths = await plant(subject, tree, COPIES);
      const saved = subject.save?.() as Uint8Array;
      const target = restore === undefined ? subject : await make();
      const last = paths.at(-1) as string;
      return {
        operations: 1,
        run: async () => {
          if (restore !== undefined) target[restore]?.(saved);
          else if ((subject.save?.()?.length ?? 0) < total / 2) return 0;
          return target.size(last);
        },
        expected: tree.get(last.slice(last.indexOf('/', 1)))?.length ?? 0,
      };
    },
  };
};

/** Operations that only filesystems with versions have; memfs uses its snapshots. */
export const VERSIONS: readonly Work[] = [
  rollback(1_000),
  rollback(100_000),
  fork(1_000),
  fork(100_000),
  wide,
  blob('snapshot of a source tree'),
  blob('restore of a source tree', 'load'),
  blob('restore of a source tree, the bytes adopted', 'adopt'),
];

export const LARGE_VERSIONS: readonly Work[] = [rollback(1_000_000), fork(1_000_000)];
