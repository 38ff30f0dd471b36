import { type FileSystem, openFileSystem, type Timer } from '@scratchfs/core';
import { type ObjectStore, objectTreeStorage } from '@scratchfs/core/object-tree';
import { MemoryObjectStore, SlowStore } from '@scratchfs/testkit';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CountingStore } from './testing/counting-store.js';

const WRITES = 20;

/** Returns a timer and the number of times that it was slept for. */
function countingTimer(): { readonly timer: Timer; readonly sleeps: () => number } {
  let sleeps = 0;
  const timer: Timer = {
    sleep: (ms) => {
      sleeps += 1;
      return new Promise((resolve) => setTimeout(resolve, ms));
    },
    after: (ms, work) => {
      const timeout = setTimeout(work, ms);
      return () => clearTimeout(timeout);
    },
  };
  return { timer, sleeps: () => sleeps };
}

async function write(fs: FileSystem, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await fs.writeFile('/f', `${i}`);
}

describe('A commit', () => {
  afterEach(() => void vi.useRealTimers());

  /** Returns the number of sleeps of some writes, after a first one that measures the store. */
  async function sleepsOf(store: ObjectStore): Promise<number> {
    const { timer, sleeps } = countingTimer();
    const fs = await openFileSystem(objectTreeStorage(store, { timer }));
    await write(fs, 1);
    const before = sleeps();
    await write(fs, WRITES);
    return sleeps() - before;
  }

  it('on a near store does not sleep', async () => {
    // Time stands still, so that a busy machine does not make the store a distant one.
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    expect(await sleepsOf(new MemoryObjectStore())).toBe(0);
  });

  it('on a distant store waits for a turn of the event loop', async () => {
    expect(await sleepsOf(new SlowStore(new MemoryObjectStore(), () => 12))).toBe(WRITES);
  });

  it('on a near store leaves turns of the event loop to other work', async () => {
    const fs = await openFileSystem(objectTreeStorage(new MemoryObjectStore()));
    let turns = 0;
    const going = setInterval(() => {
      turns += 1;
    }, 1);
    // Writes, not milliseconds, bound the wait: a busy machine gives this process no turn at all for a while.
    for (let written = 0; written < 20_000 && turns <= 2; written++) await write(fs, 1);
    clearInterval(going);
    expect(turns).toBeGreaterThan(2);
  });

  it('on a near store is shared by callers that write again almost immediately', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    const store = new CountingStore(new MemoryObjectStore());
    const fs = await openFileSystem(objectTreeStorage(store));
    await write(fs, 1);
    const before = store.counts.swapHead;
    const writers = Array.from({ length: 8 }, async (_, w) => {
      for (let i = 0; i < WRITES; i++) {
        await fs.writeFile(`/${w}`, `${i}`);
        // Code above the filesystem, such as layers, differs in length.
        for (let step = 0; step < 5 * w; step++) await undefined;
      }
    });
    await Promise.all(writers);
    expect(store.counts.swapHead - before).toBeLessThan(WRITES * 1.5);
  });
});
