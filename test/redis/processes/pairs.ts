import { isStorageError } from '@scratchfs/core';
import { createSnapshot, restoreSnapshot } from '@scratchfs/core/snapshot';
import { createFileSystem } from 'scratchfs';
import { type Place, withClient } from '../clients.js';

/** Files in different directories that every writer keeps equal. */
const ONE = '/x/y/one';
const TWO = '/z/two';

let isOver = false;

export async function plantPair(place: Place): Promise<void> {
  await withClient(place, async (fs) => {
    await fs.mkdir('/x/y', { recursive: true });
    await fs.mkdir('/z');
    await fs.writeFile(ONE, '0');
    await fs.writeFile(TWO, '0');
  });
}

/** Writes both files anew, in a transaction, until {@link endPairs}; answers how often. */
export async function writePairs(place: Place): Promise<number> {
  isOver = false;
  return withClient(place, async (fs) => {
    let rounds = 0;
    for (; !isOver; rounds++) {
      await unlessBeaten(
        fs.transaction(async (tx) => {
          await tx.writeFile(ONE, String(rounds));
          await tx.writeFile(TWO, String(rounds));
        }),
      );
    }
    return rounds;
  });
}

/** Restores a snapshot again and again until {@link endPairs}; answers how often. */
export async function restorePairs(place: Place): Promise<number> {
  isOver = false;
  return withClient(place, async (fs) => {
    const snapshot = await createSnapshot(fs);
    let rounds = 0;
    for (; !isOver; rounds++) await unlessBeaten(restoreSnapshot(fs, snapshot));
    return rounds;
  });
}

/** Who loses too many races in a row is told so, and has changed nothing and seen nothing. */
async function unlessBeaten<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isStorageError(error, 'conflict')) return undefined;
    throw error;
  }
}

export async function endPairs(): Promise<void> {
  isOver = true;
}

/** Takes snapshots and reads both files in a transaction; answers what was seen broken. */
export async function readPairs({ place, rounds }: { place: Place; rounds: number }): Promise<string[]> {
  const broken: string[] = [];
  await withClient(place, async (fs) => {
    for (let round = 0; round < rounds; round++) {
      const copy = createFileSystem();
      const snapshot = await unlessBeaten(createSnapshot(fs));
      if (snapshot !== undefined) {
        await restoreSnapshot(copy, snapshot);
        const kept = [copy.readTextSync(ONE), copy.readTextSync(TWO)];
        if (kept[0] !== kept[1]) broken.push(`a snapshot holds ${kept.join(' and ')}`);
      }
      const reading = fs.transaction(async (tx) => [await tx.readText(ONE), await tx.readText(TWO)]);
      const seen = await unlessBeaten(reading);
      if (seen?.[0] !== seen?.[1]) broken.push(`a reader sees ${seen?.join(' and ')}`);
    }
  });
  return broken;
}
