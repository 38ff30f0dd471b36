import { type FileSystem, isFsError, isStorageError, type Limits } from '@scratchfs/core';
import { faultyBackend, Random, Scheduler } from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import { checkedDump, client, clock, freshBackend, stateOf } from './harness.js';
import { replace } from './linearizability.js';

const WRITERS = 16;
export const LIMITS: Limits = { maxTotalSize: 2_000, maxNodeCount: 60, maxFileSize: 400 };

export interface QuotaReport {
  operations: number;
  /** Refused with ENOSPC or EFBIG. */
  refused: number;
  /** Operations that failed after too many lost races. */
  gaveUp: number;
  readonly problems: string[];
}

/** Runs 16 clients at the limit of one remote storage and checks the totals after every commit. */
export async function raceAtLimits(seed: number, perWriter: number, report: QuotaReport): Promise<void> {
  const scheduler = new Scheduler(seed);
  const store = freshBackend();
  const watched = replace(store, {
    commit: async (batch, call) => {
      const result = await store.commit(batch, call);
      const [loadResult] = await store.load([{ kind: 'path', path: '/', content: 0 }]);
      const totals = loadResult?.kind === 'path' ? loadResult.nodes[0]?.directory?.totals : undefined;
      if (totals !== undefined && over(totals.size, totals.files + totals.directories))
        report.problems.push(`seed ${seed}: ${JSON.stringify(totals)} after a commit`);
      return result;
    },
  });
  const writers = Array.from({ length: WRITERS }, async (_, index) => {
    const fs = await client(
      faultyBackend(watched, () => 'none', { scheduler }),
      { scheduler, limits: LIMITS },
    );
    await grow(fs, new Random(seed * 100 + index), perWriter, report);
  });
  await scheduler.run(Promise.all(writers));
  await finish(seed, () => stateOf(store), report);
}

/** Runs the same with the promise methods of one filesystem in memory. */
export async function raceInMemory(seed: number, perWriter: number, report: QuotaReport): Promise<void> {
  const fs = createFileSystem({ limits: LIMITS, clock: clock.read });
  const writers = Array.from({ length: WRITERS }, (_, index) =>
    grow(fs, new Random(seed * 100 + index), perWriter, report),
  );
  await Promise.all(writers);
  await finish(seed, () => checkedDump(fs), report);
}

async function finish(seed: number, read: () => ReturnType<typeof stateOf>, report: QuotaReport): Promise<void> {
  try {
    const { stats, entries } = await read();
    if (over(stats.totalSize, stats.nodeCount))
      report.problems.push(`seed ${seed}: ${JSON.stringify(stats)} at the end`);
    for (const entry of entries)
      if (entry.kind === 'file' && entry.size > (LIMITS.maxFileSize as number))
        report.problems.push(`seed ${seed}: ${entry.path} has ${entry.size} bytes`);
  } catch (error) {
    report.problems.push(`seed ${seed}: ${String(error)}`);
  }
}

export function over(size: number, nodes: number): boolean {
  return size > (LIMITS.maxTotalSize as number) || nodes > (LIMITS.maxNodeCount as number);
}

/** Operations of one writer, most of which add data. */
export async function grow(fs: FileSystem, random: Random, count: number, report: QuotaReport): Promise<void> {
  const path = (): string => `/${'abcdefgh'[random.below(8)]}${random.below(6)}`;
  for (let i = 0; i < count; i++) {
    report.operations += 1;
    const bytes = new Uint8Array(random.below(450));
    const moves: readonly (() => Promise<unknown>)[] = [
      () => fs.writeFile(path(), bytes),
      () => fs.appendFile(path(), bytes.subarray(0, 90)),
      () => fs.truncate(path(), bytes.length),
      () => fs.copyFile(path(), path()),
      () => fs.cp(path(), path(), { recursive: true }),
      () => fs.mkdir(`${path()}/x/y`, { recursive: true }),
      () => fs.writeFile(`${path()}/f`, bytes),
      () => fs.symlink('a'.repeat(bytes.length + 1), path()),
      () => fs.link(path(), path()),
      () => fs.rename(path(), path()),
      () => fs.rm(path(), { recursive: true, force: true }),
      () =>
        fs.transaction(async (tx) => {
          await tx.writeFile(path(), bytes);
          await tx.writeFile(path(), bytes);
        }),
    ];
    try {
      await random.pick(moves)();
    } catch (error) {
      if (isStorageError(error, 'conflict')) report.gaveUp += 1;
      else if (!isFsError(error)) report.problems.push(`an error of another kind: ${String(error)}`);
      else if (error.code === 'ENOSPC' || error.code === 'EFBIG') report.refused += 1;
    }
  }
}
