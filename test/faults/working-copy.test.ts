import { asyncStorage } from '@scratchfs/core';
import { openWorkingCopy } from '@scratchfs/core/working-copy';
import { faultyBackend } from '@scratchfs/testkit';
import { expect, test } from 'vitest';
import { client, clock, freshBackend } from './harness.js';
import { abortedWorkingCopies, faultyWorkingCopies, type WorkingCopyReport } from './working-copy.js';

const newReport = (): WorkingCopyReport => ({ faults: 0, survived: 0, problems: [] });

test('a working copy under every fault at every call loses nothing, applies nothing partially, and works afterwards', async () => {
  const report = newReport();
  await faultyWorkingCopies(report);
  expect(report.problems).toEqual([]);
  expect(report.faults).toBeGreaterThan(80);
  expect(report.survived).toBe(report.faults);
});

test('a push or pull that is aborted at any call has all or no effect', async () => {
  const report = newReport();
  await abortedWorkingCopies(report);
  expect(report.problems).toEqual([]);
  expect(report.faults).toBeGreaterThan(5);
});

test('a working copy of 5,000 files costs few requests, and a push and a pull cost what changed', async () => {
  const backend = freshBackend();
  const shared = await client(backend);
  await shared.transaction(async (tx) => {
    for (let d = 0; d < 100; d++) {
      await tx.mkdir(`/src/${d % 10}/${d}`, { recursive: true });
      for (let i = 0; i < 50; i++) await tx.writeFile(`/src/${d % 10}/${d}/${i}`, new Uint8Array(4_000).fill(i));
    }
  });
  const counted = faultyBackend(backend, () => 'none');
  const cost = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
    const before = counted.calls;
    return [await work(), counted.calls - before];
  };
  const storage = asyncStorage(counted, { clock: clock.read });
  // 20 MB: a root, portions of 8 MiB, and one check that all of it was one state.
  const [copy, opening] = await cost(() => openWorkingCopy(storage, { clock: clock.read }));
  expect(opening).toBeLessThanOrEqual(8);
  copy.fileSystem.writeFileSync('/src/3/13/7', 'changed');
  copy.fileSystem.renameSync('/src/4', '/four');
  expect((await cost(() => copy.push()))[1]).toBeLessThanOrEqual(3);
  expect((await cost(() => copy.pull()))[1]).toBeLessThanOrEqual(8);
  expect((await cost(() => copy.pull()))[1]).toBe(2);
  await shared.writeFile('/src/5/15/1', 'theirs');
  const [pulled, pulling] = await cost(() => copy.pull());
  expect(pulled).toMatchObject({ kind: 'pulled', changes: [{ path: '/src/5/15/1', change: 'modified' }] });
  expect(pulling).toBeLessThanOrEqual(8);
  expect((await cost(() => copy.push()))[1]).toBe(0);
});
