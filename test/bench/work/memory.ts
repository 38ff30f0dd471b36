import { content, fileAt, fill, type Layout } from './layout.js';
import type { Work } from './work.js';

/** What a file of 100 bytes costs in memory, beyond its content, in a million of them. */
export const memory = (files: number): Work => {
  const layout: Layout = { files, directories: files / 100, isLong: true };
  return {
    title: `memory beyond the content, a file of 100 bytes, ${files / 1000}k files`,
    unit: 'B',
    passes: 1,
    measures: 'memory',
    fits: () => true,
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
