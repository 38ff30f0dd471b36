import type { Make, Subject } from '../subjects/subject.js';
import { content, fileAt, fill, freshPaths, type Layout, NEW, OLD, SMALL } from './layout.js';
import { done, sum, type Work } from './work.js';

const layoutOf = (files: number, isLong: boolean): Layout => ({ files, directories: files / 100, isLong });

type Operation = (subject: Subject, path: string, bytes: Uint8Array) => unknown;

const OPERATIONS: readonly (readonly [title: string, each: number, isFilled: boolean, suffix: string, Operation])[] = [
  ['create', 0, false, '', (subject, path, bytes) => done(subject.write(path, bytes))],
  ['overwrite', 0, true, '', (subject, path, bytes) => done(subject.write(path, bytes))],
  ['read bytes', SMALL, true, '', (subject, path) => subject.read(path)],
  ['read text', SMALL, true, '', (subject, path) => subject.readText(path)],
  ['stat', SMALL, true, '', (subject, path) => subject.size(path)],
  ['exists, hit', 1, true, '', (subject, path) => subject.exists(path)],
  ['exists, miss', 0, true, '.gone', (subject, path) => subject.exists(path)],
];

/** Operations on single files among very many. */
export function filesWork(files: number, isLong: boolean, only = OPERATIONS.map(([title]) => title)): Work[] {
  const layout = layoutOf(files, isLong);
  return OPERATIONS.filter(([title]) => only.includes(title)).map(([title, each, isFilled, suffix, operation]) => {
    const isWrite = each === 0 && suffix === '';
    return {
      title: `${title}, ${files / 1000}k files, ${isLong ? 'long' : 'short'} names`,
      unit: 'ns',
      // With a million files, the code is compiled long before the first run ends, so fewer passes are enough.
      passes: files < 1_000_000 ? 3 : 2,
      fits: () => true,
      prepare: async (make: Make) => {
        let subject = await fill(await make(), layout, isFilled);
        let paths = freshPaths(layout, suffix);
        const bytes = content(SMALL, NEW);
        return {
          operations: files,
          run: () => sum(subject, files, (i) => operation(subject, paths[i] as string, bytes)),
          expected: each * files,
          renew: async () => {
            if (!isFilled) subject = await fill(await make(), layout, false);
            paths = freshPaths(layout, suffix);
          },
          holds: async () => {
            const stored = await subject.read(fileAt(layout, files - 1));
            return stored.length === SMALL && stored.every((byte) => byte === (isWrite ? NEW : OLD));
          },
        };
      },
    };
  });
}
