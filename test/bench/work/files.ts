import type { Make, Subject } from '../subjects/subject.js';
import { content, fill, freshPaths, type Layout, SMALL } from './layout.js';
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

/** What is done to single files, among very many. */
export function filesWork(files: number, isLong: boolean): Work[] {
  const layout = layoutOf(files, isLong);
  return OPERATIONS.map(([title, each, isFilled, suffix, operation]) => ({
    title: `${title}, ${files / 1000}k files, ${isLong ? 'long' : 'short'} names`,
    unit: 'ns',
    passes: 3,
    fits: () => true,
    prepare: async (make: Make) => {
      const subject = await fill(await make(), layout, isFilled);
      const paths = freshPaths(layout, suffix);
      const bytes = content();
      return {
        operations: files,
        run: () => sum(subject, files, (i) => operation(subject, paths[i] as string, bytes)),
        expected: each * files,
      };
    },
  }));
}
