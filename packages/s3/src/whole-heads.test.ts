import type { FileSystem } from '@scratchfs/core';
import type { ObjectStore } from '@scratchfs/core/object-tree';
import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { beforeEach, describe, expect, it } from 'vitest';
import { openTree as open } from './testing/open-tree.js';

/** Returns a promise that others wait for, and its resolver. */
function gate() {
  let pass = (): void => {};
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  return { pass, passed };
}

describe('A store that returns the whole head even if the client knows it', () => {
  let store: ObjectStore;
  let fs: FileSystem;
  /** Run before a swap arrives, and before a read of the head returns. */
  let beforeSwap: () => Promise<void>;
  let beforeHead: () => Promise<void>;

  beforeEach(async () => {
    store = new MemoryObjectStore();
    beforeSwap = beforeHead = async () => {};
    const whole = alteredStore(store, {
      readHead: async () => {
        const head = await store.readHead(undefined);
        await beforeHead();
        return head;
      },
      swapHead: async (...what) => {
        await beforeSwap();
        return store.swapHead(...what);
      },
    });
    ({ fs } = await open(whole));
    await fs.writeFile('/f', 'old');
  });

  it('after a commit in between loses no writes', async () => {
    const [sent, read, arriving, answering] = [gate(), gate(), gate(), gate()];
    beforeSwap = async () => {
      sent.pass();
      await arriving.passed;
    };
    const written = fs.writeFile('/f', 'new');
    await sent.passed;
    // The head is requested after the swap was sent, and read before the swap arrives.
    await new Promise((resolve) => setTimeout(resolve, 5));
    beforeHead = async () => {
      read.pass();
      await answering.passed;
    };
    const listed = fs.readdir('/');
    await read.passed;
    arriving.pass();
    await written;
    answering.pass();
    expect(await listed).toEqual(['f']);
    expect(await fs.readText('/f')).toBe('new');
  });

  it('and an older one than before makes the client report the filesystem as lost', async () => {
    const older = await store.readHead(undefined);
    await fs.writeFile('/f', 'new');
    const now = await store.readHead(undefined);
    if (typeof older !== 'object' || typeof now !== 'object') throw new Error('there are two heads');
    await store.swapHead(older.bytes, now.tag);
    await expect(fs.readText('/f')).rejects.toMatchObject({ kind: 'lost' });
  });
});
