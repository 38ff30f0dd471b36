import { expect, it } from 'vitest';
import { type PathRead, WritesAtWork } from './writes-at-work.js';

/** Runs a read during which a file is written, and returns how often it ran. */
async function runsOf(path: string, reads: readonly PathRead[]): Promise<number> {
  const writes = new WritesAtWork();
  let runs = 0;
  const work = async (): Promise<void> => {
    if (++runs > 3) return;
    writes.begin([{ path, before: null, after: null }]);
    await Promise.resolve();
    writes.end();
  };
  await writes.read(reads, async () => false, work, {});
  return runs;
}

it('runs a read once beside writes of other paths, and again after writes of its own', async () => {
  const reads = [
    { kind: 'path', path: '/src/a' },
    { kind: 'list', path: '/lib' },
  ];
  expect(await runsOf('/other/x', reads)).toBe(1);
  expect(await runsOf('/src/a', reads)).toBe(4);
  expect(await runsOf('/lib/x', reads)).toBe(4);
});
