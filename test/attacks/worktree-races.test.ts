import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFsError } from '@scratchfs/core';
import { HostHistory } from '@scratchfs/host';
import { describe, expect, it } from 'vitest';
import { Swapper, whyNoRaces } from './swapper.js';

/** Number of snapshots and checkouts in each race, a twentieth of `RACE_ITERATIONS`: each consists of many calls. */
const ROUNDS = Math.ceil(Number(process.env['RACE_ITERATIONS'] ?? 1000) / 20);
const OUTSIDE = 'OUTSIDE-5c2e';
const reason = whyNoRaces();

/** Returns the entries of a folder as text, with modes, modification times and contents. */
function told(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const stat = statSync(join(folder, name));
      return `${name} ${stat.mode} ${stat.mtimeMs} ${stat.isFile() ? readFileSync(join(folder, name), 'utf8') : ''}`;
    })
    .join('\n');
}

/** Resolves to undefined if the work fails with an FsError, as a concurrent swap may cause. */
async function unlessSwapped<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isFsError(error)) return undefined;
    throw error;
  }
}

describe.skipIf(reason !== undefined)(
  `work trees against another process that swaps names${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    it.each([
      { what: 'a directory', at: '.', pair: ['d', 'out'] },
      { what: 'a directory further down', at: 'd', pair: ['e', 'out'] },
      { what: 'a file', at: 'd/e', pair: ['f', 'out'] },
    ] as const)(
      'no snapshot holds and no checkout changes what lies outside, $what and a link out',
      async ({ at, pair }) => {
        const top = mkdtempSync(join(tmpdir(), 'scratchfs-race-'));
        const [work, outside] = [join(top, 'work'), join(top, 'outside')];
        mkdirSync(join(outside, 'e'), { recursive: true });
        mkdirSync(join(work, 'd/e'), { recursive: true });
        for (const place of [outside, join(outside, 'e')])
          for (const name of ['f', 'only-outside']) writeFileSync(join(place, name), OUTSIDE);
        for (let i = 0; i < 20; i++) writeFileSync(join(work, 'd/e', `n${i}`), 'inside');
        for (const name of ['d/f', 'd/e/f', 'keep']) writeFileSync(join(work, name), 'inside');
        const before = told(outside);
        await using versions = new HostHistory();
        const first = await versions.onboardRepo(work);
        for (const place of ['.', 'd', 'd/e'])
          symlinkSync(place === 'd/e' ? join(outside, 'f') : outside, join(work, place, 'out'));
        const second = await versions.createSnapshot(work, first, 'with links out');
        const history = versions.historyOf(second);
        const swapper = await Swapper.start(join(work, at), [pair], 0.005);
        let [snapshots, checkouts, swaps] = [0, 0, 0];
        try {
          const isEnough = () => snapshots > ROUNDS / 10 && checkouts > ROUNDS / 20 && swapper.swaps > ROUNDS;
          for (let round = 0; round < ROUNDS || (!isEnough() && round < 20 * ROUNDS); round++) {
            const id = await unlessSwapped(versions.createSnapshot(work, second, 'raced'));
            if (id !== undefined) {
              snapshots += 1;
              for await (const { path, mode } of history.list(id)) {
                expect(path).not.toContain('only-outside');
                if (mode !== '120000')
                  expect(new TextDecoder().decode(await history.readFile(id, path))).not.toContain(OUTSIDE);
              }
            }
            const version = round % 2 === 0 ? second : first;
            const done = await unlessSwapped(versions.checkoutSnapshot(version, work).then(() => true));
            if (done === true) checkouts += 1;
            expect(told(outside)).toBe(before);
          }
        } finally {
          swaps = await swapper.stop();
          rmSync(top, { recursive: true, force: true });
        }
        expect(swaps).toBeGreaterThan(ROUNDS);
        expect(snapshots).toBeGreaterThan(ROUNDS / 10);
        expect(checkouts).toBeGreaterThan(ROUNDS / 20);
      },
      600_000,
    );
  },
);
