import { content, fileAt, fill, type Layout } from './layout.js';
import type { Work } from './work.js';

/** Measures the memory that a file of 100 bytes takes, beyond its content. */
export const memory = (files: number, measures: 'heap' | 'resident'): Work => {
  const layout: Layout = { files, directories: files / 100, isLong: true };
  return {
    title: `${measures === 'heap' ? 'heap' : 'resident memory'} beyond the content, a file of 100 bytes, ${files / 1000}k files`,
    unit: 'B',
    passes: 1,
    measures,
    fits: (subject) => subject.isOutside !== true,
    prepare: async (make) => {
      const subject = await fill(await make(), layout, false);
      const bytes = content(100);
      return {
        operations: files,
        run: async () => {
          for (let i = 0; i < files; i++) {
            const written = subject.write(fileAt(layout, i), bytes);
            if (subject.isAsync) await written;
          }
          return subject.size(fileAt(layout, files - 1));
        },
        expected: 100,
      };
    },
  };
};
