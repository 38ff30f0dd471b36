import { type FileSystem, isStorageError } from '@scratchfs/core';
import { createSnapshot, restoreSnapshot } from '@scratchfs/core/snapshot';
import { faultyBackend, Scheduler } from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import { client, freshBackend } from './harness.js';

export interface SnapshotReport {
  snapshots: number;
  /** Transactions that lost the maximum number of races: they reject, and have changed nothing. */
  gaveUp: number;
  readonly problems: string[];
}

/**
 * Runs a writer that keeps two files equal, and others that take snapshots and restore them concurrently, without
 * pauses.
 */
export async function snapshotsUnderWriter(
  seed: number,
  rounds: number,
  onMemory: boolean,
  report: SnapshotReport,
): Promise<void> {
  const scheduler = new Scheduler(seed);
  const store = freshBackend();
  const open = async () =>
    onMemory
      ? memory
      : client(
          faultyBackend(store, () => 'none', { scheduler }),
          { scheduler },
        );
  const memory = createFileSystem();
  const { problems } = report;
  const transaction = async <T>(fs: FileSystem, work: (tx: FileSystem) => Promise<T>): Promise<T | undefined> => {
    try {
      return await fs.transaction(work);
    } catch (error) {
      if (!isStorageError(error, 'conflict')) throw error;
      report.gaveUp += 1;
      return undefined;
    }
  };
  const [writer, reader, restorer] = [await open(), await open(), await open()];
  let writing = true;
  const work = async (): Promise<void> => {
    await writer.mkdir('/x/y', { recursive: true });
    await writer.mkdir('/z');
    await writer.transaction(async (tx) => {
      await tx.writeFile('/x/y/one', '0');
      await tx.writeFile('/z/two', '0');
    });
    const first = await createSnapshot(writer);
    const write = async (): Promise<void> => {
      for (let i = 1; writing; i++) {
        await transaction(writer, async (tx) => {
          await tx.writeFile('/x/y/one', `${i}`);
          await tx.writeFile('/z/two', `${i}`);
        });
        await scheduler.turn('writer');
      }
    };
    const read = async (): Promise<void> => {
      for (let i = 0; i < rounds; i++) {
        const bytes = await createSnapshot(reader);
        report.snapshots += 1;
        const copy = createFileSystem();
        await restoreSnapshot(copy, bytes);
        const pair = [copy.readTextSync('/x/y/one'), copy.readTextSync('/z/two')];
        if (pair[0] !== pair[1]) problems.push(`seed ${seed}: a snapshot holds ${pair.join(' and ')}`);
        const seen = await transaction(reader, async (tx) => [
          await tx.readText('/x/y/one'),
          await tx.readText('/z/two'),
        ]);
        if (seen !== undefined && seen[0] !== seen[1])
          problems.push(`seed ${seed}: a reader sees ${seen.join(' and ')}`);
        await scheduler.turn('reader');
      }
      writing = false;
    };
    const restore = async (): Promise<void> => {
      while (writing) {
        await restoreSnapshot(restorer, first);
        await scheduler.turn('restorer');
      }
    };
    // A loop that fails ends the others.
    const end = (): void => {
      writing = false;
    };
    await Promise.all([write().finally(end), read().finally(end), restore().finally(end)]);
  };
  try {
    await scheduler.run(work());
  } catch (error) {
    problems.push(`seed ${seed}: ${String(error)}`);
  }
}
