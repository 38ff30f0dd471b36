import type { FileSystem } from '@scratchfs/core';
import { mount } from '@scratchfs/core/layers';
import { describe, expect, it } from 'vitest';
import { type Dump, dump } from './dump.js';
import { steps } from './generators.js';
import { memoryFileSystem } from './memory-file-system.js';
import { DISK_OPERATIONS } from './operations.js';
import { apply, type Handles } from './play.js';
import { promisesOnly } from './promises-only.js';
import { manualClock } from './suite/context.js';

const COUNT = 250;
/** Error codes of operations that only a mount refuses. */
const REFUSED = new Set(['EXDEV', 'EBUSY']);

/** Returns the entries only, because the statistics of a mount count mount points differently. */
async function stateOf(fileSystem: FileSystem): Promise<Dump['entries']> {
  return (await dump(fileSystem)).entries;
}

const forms: Readonly<Record<string, (fileSystem: FileSystem) => FileSystem>> = {
  synchronous: (fileSystem) => fileSystem,
  'promise-only': promisesOnly,
};

describe('random operations on a mount', () => {
  for (const [form, wrap] of Object.entries(forms)) {
    for (const seed of [21, 26]) {
      it(`do what they do on one filesystem, but for what it refuses (${form}, seed ${seed})`, async () => {
        const clock = manualClock();
        const played = [...steps(seed, COUNT, { operations: DISK_OPERATIONS })];
        // The mount points are directories that the random operations use often.
        const points = mountPoints(played);
        const parts = points.map((point) => [point, wrap(memoryFileSystem({ clock: clock.read }))] as const);
        const root = memoryFileSystem({ clock: clock.read });
        for (const point of points) root.mkdirSync(point, { recursive: true });
        const subject = mount(wrap(root), Object.fromEntries(parts));
        const expected = memoryFileSystem({ clock: clock.read });
        for (const point of points) expected.mkdirSync(point, { recursive: true });
        const open: [Handles, Handles] = [new Map(), new Map()];
        let refused = 0;
        for (const [i, step] of played.entries()) {
          clock.advance(1);
          if (step.op === 'stats') continue;
          const isChecked = i % 10 === 9;
          const before = isChecked ? await stateOf(subject) : undefined;
          const actual = await apply(subject, step, open[0]);
          if ('error' in actual && REFUSED.has(actual.error)) {
            refused += 1;
            if (before !== undefined)
              expect(await stateOf(subject), `step ${i} ${JSON.stringify(step)}`).toEqual(before);
            continue;
          }
          const wanted = await apply(expected, step, open[1]);
          expect(actual, `step ${i} ${JSON.stringify(step)}`).toEqual(wanted);
          if (isChecked) expect(await stateOf(subject), `after step ${i}`).toEqual(await stateOf(expected));
        }
        expect(refused).toBeLessThan(COUNT / 4);
      });
    }
  }
});

function mountPoints(played: readonly { readonly args: unknown }[]): string[] {
  const counts = new Map<string, number>();
  for (const { args } of played) {
    const { path } = args as { path?: string };
    const match = typeof path === 'string' ? /^\/[a-z]\/[a-z](?=\/|$)/.exec(path) : null;
    if (match !== null) counts.set(match[0], (counts.get(match[0]) ?? 0) + 1);
  }
  const ranked = [...counts].sort((a, b) => b[1] - a[1]).map(([path]) => path);
  return ranked.filter((path, i) => !ranked.slice(0, i).some((other) => other[1] === path[1])).slice(0, 2);
}
