import type { Subject } from '../subjects/subject.js';
import { content, fileAt, fill, type Layout } from './layout.js';
import { plant, sourceTree } from './source-tree.js';
import type { Work } from './work.js';

const versioned = (subject: Subject): boolean => subject.fork !== undefined;

/** As many as a subject does within some hundred milliseconds, but for those that take longer for one. */
const times = (subject: Subject, isFast: number): number => (subject.copiesAll === true ? 1 : isFast);

interface Step {
  readonly title: string;
  readonly unit: 'ns' | 'µs';
  readonly each: (subject: Subject, index: number) => void;
}

const bytes = content();

const over = (files: number, directories: number, { title, unit, each }: Step, count: number): Work => ({
  title: `${title}, ${files / 1000}k files`,
  unit,
  passes: 2,
  fits: versioned,
  prepare: async (make) => {
    const layout: Layout = { files, directories, isLong: true };
    const subject = await fill(await make(), layout);
    const path = fileAt(layout, 0);
    const operations = times(subject, count);
    return {
      operations,
      run: async () => {
        for (let i = 0; i < operations; i++) each(subject, i);
        return subject.size(path);
      },
      expected: bytes.length,
    };
  },
});

const rollback = (files: number): Work =>
  over(
    files,
    files / 100,
    {
      title: 'checkpoint, a write, rollback',
      unit: 'µs',
      each: (subject, index) => {
        const before = subject.checkpoint?.();
        subject.write(`/t/new-${index}`, bytes);
        subject.rollback?.(before);
      },
    },
    2_000,
  );

const fork = (files: number): Work =>
  over(
    files,
    files / 100,
    {
      title: 'fork and 10 writes',
      unit: 'µs',
      each: (subject) => {
        const forked = subject.fork?.();
        for (let i = 0; i < 10; i++) forked?.write(`/t/new-${i}`, bytes);
      },
    },
    500,
  );

const wide: Work = over(
  100_000,
  1,
  {
    title: 'a write into one directory, a checkpoint before each',
    unit: 'µs',
    each: (subject, index) => {
      subject.checkpoint?.();
      subject.write(`/t/directory-of-components-0000/new-${index}`, bytes);
    },
  },
  1_000,
);

/** Copies of the source tree, so that it comes to some tens of megabytes. */
const COPIES = 8;

const blob = (title: string, restore?: 'load' | 'adopt'): Work => {
  const tree = sourceTree();
  const total = [...tree.values()].reduce((sum, { length }) => sum + length, 0) * COPIES;
  return {
    title,
    unit: 'MB/s',
    bytes: total,
    passes: 8,
    warmUp: 3,
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

/** What only a filesystem with versions does; memfs does it by its snapshots. */
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
