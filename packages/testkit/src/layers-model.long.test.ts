import type { FileSystem } from '@scratchfs/core';
import { overlay, readonly } from '@scratchfs/core/layers';
import { describe, expect, it } from 'vitest';
import { differences, dump } from './dump.js';
import { steps } from './generators.js';
import { memoryFileSystem } from './memory-file-system.js';
import { ALL_OPERATIONS } from './operations.js';
import { apply, applySync, type Handles } from './play.js';
import { promisesOnly } from './promises-only.js';
import { manualClock } from './suite/context.js';

type Base = ReturnType<typeof memoryFileSystem>;

const overlays: Readonly<Record<string, (base: Base, clock: () => number) => FileSystem>> = {
  'an overlay': (base) => overlay(base),
  'an overlay of a read-only filesystem': (base) => overlay(readonly(base)),
  'an overlay of an overlay': (base) => overlay(overlay(base)),
  'an overlay of promises': (base, clock) => overlay(promisesOnly(base), { clock }),
};

const BEFORE = 250;
const AFTER = 250;

describe('random operations over a filesystem that is not empty', () => {
  for (const [name, cover] of Object.entries(overlays)) {
    for (const seed of [11, 12, 13, 14, 15, 16]) {
      it(`do on ${name} what they do on a fork of it (seed ${seed})`, async () => {
        const clock = manualClock();
        const base = memoryFileSystem({ clock: clock.read });
        const played = [...steps(seed, BEFORE + AFTER, { operations: ALL_OPERATIONS })];
        const handles: Handles = new Map();
        for (const step of played.slice(0, BEFORE)) {
          clock.advance(1);
          applySync(base, step, handles);
        }
        const before = await dump(base);
        const expected = base.forkSync();
        const subject = cover(base, clock.read);
        const open: [Handles, Handles] = [new Map(), new Map()];
        for (const [i, step] of played.slice(BEFORE).entries()) {
          clock.advance(1);
          const wanted = applySync(expected, step, open[0]);
          expect(await apply(subject, step, open[1]), `step ${i}: ${JSON.stringify(step)}`).toEqual(wanted);
          expect({ ...(await subject.stats()) }, `stats after step ${i}: ${JSON.stringify(step)}`).toEqual(
            expected.statsSync(),
          );
        }
        expect(differences(await dump(subject), await dump(expected))).toEqual([]);
        expect(differences(await dump(base), before)).toEqual([]);
      });
    }
  }
});
