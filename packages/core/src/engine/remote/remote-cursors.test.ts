import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../../async-storage.js';
import { openFileSystem } from '../../create-file-system.js';
import type { FileSystem } from '../../file-system.js';
import { sampleBackend } from '../../testing/sample-backend.js';
import type { Cursor } from '../cursor.js';

const far = (): Promise<FileSystem> => openFileSystem(asyncStorage(sampleBackend()));

/** Counts from 0 to `end` - 1, then throws `error` if it is given. */
function counter(end: number, error?: Error): Cursor<number> {
  let at = 0;
  return {
    next: () => {
      if (at < end) return at++;
      if (error !== undefined) throw error;
      return undefined;
    },
  };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('a cursor on a remote storage', () => {
  it.each([0, 3, 64, 1_000])('that reads no directory is iterated too (%i items)', async (count) => {
    const fs = await far();
    expect((await all(fs.iterate(() => counter(count)))).length).toBe(count);
  });

  it.each([0, 1_000])('that throws after %i items rejects with that error', async (count) => {
    const fs = await far();
    const error = new Error('no');
    await expect(all(fs.iterate(() => counter(count, error)))).rejects.toBe(error);
  });

  it('is not started after an abort', async () => {
    const fs = await far();
    let begun = 0;
    const start = (): Cursor<number> => {
      begun += 1;
      return counter(1);
    };
    await expect(all(fs.iterate(start, { signal: AbortSignal.abort('before') }))).rejects.toBe('before');
    expect(begun).toBe(0);
  });
});
