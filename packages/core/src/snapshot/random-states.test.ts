import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asyncForm } from '../async-storage.js';
import { openFileSystem } from '../create-file-system.js';
import { rootMeta } from '../engine/defaults.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { isFsError } from '../errors.js';
import { ExecutorSyncStorage } from '../executor-storage.js';
import type { SyncFileSystem } from '../file-system.js';
import { createSnapshot, createSnapshotSync } from './create-snapshot.js';
import { restoreSnapshot, restoreSnapshotSync } from './restore-snapshot.js';
import { xxh32 } from './xxh32.js';

const segment = fc.constantFrom('a', 'b', 'c', '__proto__', '\u{1f600}', '\uffff');
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((names) => `/${names.join('/')}`);
const size = fc.constantFrom(0, 1, 100, 4096, 4097, 70_000, 200_000);
type Step = (fs: SyncFileSystem) => void;
const step: fc.Arbitrary<Step> = fc.oneof(
  path.map(
    (at): Step =>
      (fs) =>
        fs.mkdirSync(at, { recursive: true }),
  ),
  fc.tuple(path, size, fc.nat(255)).map(
    ([at, length, fill]): Step =>
      (fs) =>
        fs.writeFileSync(at, new Uint8Array(length).fill(fill)),
  ),
  fc.tuple(path, fc.string()).map(
    ([at, text]): Step =>
      (fs) =>
        fs.writeFileSync(at, text.toWellFormed()),
  ),
  fc.tuple(path, size).map(
    ([at, length]): Step =>
      (fs) =>
        fs.appendFileSync(at, 'y'.repeat(length)),
  ),
  fc.tuple(path, size).map(
    ([at, length]): Step =>
      (fs) =>
        fs.truncateSync(at, length),
  ),
  fc.tuple(path, path).map(
    ([from, to]): Step =>
      (fs) =>
        fs.renameSync(from, to),
  ),
  fc.tuple(path, path).map(
    ([from, to]): Step =>
      (fs) =>
        fs.cpSync(from, to, { recursive: true }),
  ),
  fc.tuple(path, path).map(
    ([from, to]): Step =>
      (fs) =>
        fs.linkSync(from, to),
  ),
  fc.tuple(path, path).map(
    ([from, to]): Step =>
      (fs) =>
        fs.symlinkSync(from, to),
  ),
  path.map(
    (at): Step =>
      (fs) =>
        fs.rmSync(at, { recursive: true }),
  ),
  fc.tuple(path, fc.nat(0o7777)).map(
    ([at, mode]): Step =>
      (fs) =>
        fs.chmodSync(at, mode),
  ),
  fc.constant<Step>((fs) => void fs.checkpointSync()),
  fc.constant<Step>((fs) => restoreSnapshotSync(fs, createSnapshotSync(fs), { adopt: true })),
  fc.constant<Step>((fs) => restoreSnapshotSync(fs, createSnapshotSync(fs))),
);

function open(): SyncFileSystem {
  let now = 0;
  const clock = () => (now += 0.25);
  return openFileSystem(new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), clock), { clock });
}

function play(fs: SyncFileSystem, steps: readonly Step[]): void {
  for (const run of steps) {
    try {
      run(fs);
    } catch (error) {
      if (!isFsError(error)) throw error;
    }
  }
}

function dump(fs: SyncFileSystem): unknown {
  const entries = [...fs.walkSync('/')].map((entry) => ({
    ...entry,
    content: entry.kind === 'file' ? xxh32(fs.readFileSync(entry.path)) : undefined,
  }));
  return { entries, root: fs.lstatSync('/').mode, stats: fs.statsSync() };
}

describe('the state after any operations', () => {
  it('is restored exactly, by every form, and behaves the same afterwards', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.array(step, { maxLength: 10 }), async (steps, more) => {
        const fs = open();
        play(fs, steps);
        const bytes = createSnapshotSync(fs);
        const copy = open();
        play(copy, more);
        await restoreSnapshot(copy, bytes);
        expect(dump(copy)).toEqual(dump(fs));
        expect(xxh32(createSnapshotSync(copy))).toBe(xxh32(bytes));
        const clock = () => 7;
        const far = await openFileSystem(asyncForm(new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(9)), clock)));
        await restoreSnapshot(far, bytes);
        expect(xxh32(await createSnapshot(far))).toBe(xxh32(bytes));
        const adopted = open();
        restoreSnapshotSync(adopted, bytes, { adopt: true });
        const [one, two] = [copy.forkSync(), adopted];
        play(one, more);
        play(two, more);
        const withoutTimes = (state: SyncFileSystem) =>
          [...state.walkSync('/')].map(({ path, kind, size, mode, links }) => ({ path, kind, size, mode, links }));
        expect(withoutTimes(two)).toEqual(withoutTimes(one));
        expect(two.statsSync()).toEqual(one.statsSync());
      }),
      { numRuns: 60 },
    );
  });
});
