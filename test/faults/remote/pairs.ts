import { isStorageError } from '@scratchfs/core';
import { createSnapshot, restoreSnapshot } from '@scratchfs/core/snapshot';
import { createFileSystem } from 'scratchfs';
import type { Pool } from './process-pool.js';
import { type Remote, withClient } from './remote.js';

/** Files in different directories that every writer keeps equal. */
const ONE = '/x/y/one';
const TWO = '/z/two';

export interface PairReport {
  snapshots: number;
  writes: number;
  restores: number;
  readonly problems: string[];
}

interface PairsSeen {
  readonly taken: number;
  readonly broken: readonly string[];
}

/** The jobs of a process that keeps two files equal or checks that they are. */
export function pairJobs<P>(remote: Remote<P>) {
  let isOver = false;
  return {
    /** Rewrites both files in a transaction until `endPairs`. Returns the number of times. */
    async writePairs(place: P): Promise<number> {
      isOver = false;
      return withClient(remote, place, async (fs) => {
        let written = 0;
        for (let round = 0; !isOver; round++) {
          const done = await unlessBeaten(
            fs.transaction(async (tx) => {
              await tx.writeFile(ONE, String(round));
              await tx.writeFile(TWO, String(round));
              return true;
            }),
          );
          if (done === true) written += 1;
        }
        return written;
      });
    },

    /** Restores a snapshot repeatedly until `endPairs`. Returns the number of times. */
    async restorePairs(place: P): Promise<number> {
      isOver = false;
      return withClient(remote, place, async (fs) => {
        const snapshot = await createSnapshot(fs);
        let restored = 0;
        while (!isOver)
          if ((await unlessBeaten(restoreSnapshot(fs, snapshot).then(() => true))) === true) restored += 1;
        return restored;
      });
    },

    async endPairs(): Promise<void> {
      isOver = true;
    },

    /**
     * Creates snapshots and reads both files in a transaction. Returns the number of snapshots and the problems found.
     */
    async readPairs({ place, rounds }: { readonly place: P; readonly rounds: number }): Promise<PairsSeen> {
      const broken: string[] = [];
      let taken = 0;
      await withClient(remote, place, async (fs) => {
        for (let round = 0; round < rounds; round++) {
          const copy = createFileSystem();
          const snapshot = await unlessBeaten(createSnapshot(fs));
          if (snapshot !== undefined) {
            taken += 1;
            await restoreSnapshot(copy, snapshot);
            const kept = [copy.readTextSync(ONE), copy.readTextSync(TWO)];
            if (kept[0] !== kept[1]) broken.push(`a snapshot holds ${kept.join(' and ')}`);
          }
          const reading = fs.transaction(async (tx) => [await tx.readText(ONE), await tx.readText(TWO)]);
          const seen = await unlessBeaten(reading);
          if (seen?.[0] !== seen?.[1]) broken.push(`a reader sees ${seen?.join(' and ')}`);
        }
      });
      return { taken, broken };
    },
  };
}

/**
 * Runs a writer that keeps two files equal, a client that restores snapshots, and readers that create them, each in its
 * own worker.
 */
export async function snapshotsAcrossProcesses<P>(
  remote: Remote<P>,
  pool: Pool<ReturnType<typeof pairJobs<P>>>,
  place: P,
  rounds: number,
  report: PairReport,
): Promise<void> {
  const [writer, restorer, ...readers] = pool.workers;
  if (writer === undefined || restorer === undefined || readers.length === 0)
    throw new Error('Three processes at least');
  await withClient(remote, place, async (fs) => {
    await fs.mkdir('/x/y', { recursive: true });
    await fs.mkdir('/z');
    await fs.writeFile(ONE, '0');
    await fs.writeFile(TWO, '0');
  });
  const writing = writer.run('writePairs', place);
  const restoring = restorer.run('restorePairs', place);
  try {
    const seen = await Promise.all(readers.map((reader) => reader.run('readPairs', { place, rounds })));
    for (const { taken, broken } of seen) {
      report.snapshots += taken;
      report.problems.push(...broken);
      if (taken === 0) report.problems.push(`a reader lost the races for all of ${rounds} snapshots`);
    }
  } finally {
    await Promise.all([writer.run('endPairs', undefined), restorer.run('endPairs', undefined)]);
    report.writes += await writing;
    report.restores += await restoring;
  }
}

/** A client that loses too many races in a row gets an error, and has changed and seen nothing. */
async function unlessBeaten<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isStorageError(error, 'conflict')) return undefined;
    throw error;
  }
}
