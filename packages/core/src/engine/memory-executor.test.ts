import { describe, expect, it } from 'vitest';
import { openFileSystem } from '../create-file-system.js';
import { ExecutorSyncStorage } from '../executor-storage.js';
import type { SyncFileSystem } from '../file-system.js';
import { rootMeta } from './defaults.js';
import { MemoryExecutor } from './memory-executor.js';

function memory(): { fs: SyncFileSystem; executor: MemoryExecutor } {
  const executor = MemoryExecutor.create(rootMeta(0));
  return { fs: openFileSystem(new ExecutorSyncStorage(executor, () => 0)), executor };
}

describe('a transaction in memory', () => {
  it('that others are always faster than is given up after 16 runs, and nothing of it is kept', async () => {
    const { fs } = memory();
    let runs = 0;
    const work = fs.transaction(async (inner) => {
      await inner.writeFile('/mine', `${++runs}`);
      await fs.writeFile('/other', `${runs}`);
    });
    await expect(work).rejects.toMatchObject({ name: 'StorageError', kind: 'conflict' });
    expect([runs, fs.readTextSync('/other'), fs.existsSync('/mine')]).toEqual([16, '16', false]);
  });

  it('that only reads sees one state, however much others write, and runs once', async () => {
    const { fs } = memory();
    fs.writeFileSync('/a', 'old');
    let runs = 0;
    const seen = await fs.transaction(async (inner) => {
      runs += 1;
      const before = await inner.readText('/a');
      fs.writeFileSync('/a', 'new');
      return [before, await inner.readText('/a')];
    });
    expect([runs, seen, fs.readTextSync('/a')]).toEqual([1, ['old', 'old'], 'new']);
  });
});

describe('small contents that are moved together', () => {
  it('stay what they are: of files with several names, beside links and large files, now and in a checkpoint', () => {
    const { fs, executor } = memory();
    const small = (seed: number): Uint8Array => new Uint8Array(4_000).fill(seed);
    fs.mkdirSync('/kept');
    fs.symlinkSync('kept', '/link');
    fs.linkSync('/link', '/same-link');
    fs.writeFileSync('/large', new Uint8Array(100_000).fill(9));
    for (let i = 0; i < 4_000; i++) {
      fs.writeFileSync('/churn', small(i));
      if (i % 100 !== 0) continue;
      fs.writeFileSync(`/kept/${i}`, small(i));
      if (i % 200 === 0) fs.linkSync(`/kept/${i}`, `/kept/name-of-${i}`);
    }
    const checkpoint = fs.checkpointSync();
    fs.linkSync('/large', '/also-large');
    for (let i = 0; i < 8_000; i++) fs.writeFileSync('/churn', small(i));
    expect(executor.tree.family.contents.slabBytes).toBeLessThanOrEqual(2 ** 24 + 2 ** 15);
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 4_000; i += 100) expect(fs.readFileSync(`/same-link/${i}`)).toEqual(small(i));
      for (let i = 0; i < 4_000; i += 200) expect(fs.readFileSync(`/kept/name-of-${i}`)).toEqual(small(i));
      fs.rmSync('/kept', { recursive: true });
      fs.rollbackSync(checkpoint);
    }
  });
});
