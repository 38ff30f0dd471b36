import type { FileSystem } from '@scratchfs/core';
import type { ObjectStore } from '@scratchfs/core/object-tree';
import { beforeEach, describe, expect, it } from 'vitest';
import { altered } from './testing/altered-store.js';
import { MapStore } from './testing/map-store.js';
import { openTree as open } from './testing/open-tree.js';

/** Something that others wait for. */
function gate() {
  let pass = (): void => {};
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  return { pass, passed };
}

describe('A store that answers with the whole head also where it is known', () => {
  let store: ObjectStore;
  let fs: FileSystem;
  /** Before a swap arrives, and before the answer to a read of the head does. */
  let beforeSwap: () => Promise<void>;
  let beforeHead: () => Promise<void>;

  beforeEach(async () => {
    store = new MapStore();
    beforeSwap = beforeHead = async () => {};
    const whole = altered(store, {
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

  it('and does so after a commit that came in between loses nobody anything', async () => {
    const [sent, read, arriving, answering] = [gate(), gate(), gate(), gate()];
    beforeSwap = async () => {
      sent.pass();
      await arriving.passed;
    };
    const written = fs.writeFile('/f', 'new');
    await sent.passed;
    // A head is asked for later than the swap was sent, and seen before it arrives.
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

  it('and with an older one than it has answered before has lost the filesystem', async () => {
    const older = await store.readHead(undefined);
    await fs.writeFile('/f', 'new');
    const now = await store.readHead(undefined);
    if (typeof older !== 'object' || typeof now !== 'object') throw new Error('there are two heads');
    await store.swapHead(older.bytes, now.tag);
    await expect(fs.readText('/f')).rejects.toMatchObject({ kind: 'lost' });
  });
});
