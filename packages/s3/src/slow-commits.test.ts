import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ObjectStore } from '@scratchfs/core/object-tree';
import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { expect, it, vi } from 'vitest';
import { openTree as open } from './testing/open-tree.js';

const MEBI = 2 ** 20;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

it('Contents read while a commit is in progress are not kept longer than others', async () => {
  const store: ObjectStore = new MemoryObjectStore();
  const writer = await open(store);
  for (let i = 0; i < 40; i++) await writer.fs.writeFile(`/f${i}`, new Uint8Array(MEBI).fill(i));
  let isHeld = false;
  let swap = (): void => {};
  const swapped = new Promise<void>((resolve) => {
    swap = resolve;
  });
  /** The contents that are still referenced. */
  const answers: WeakRef<Uint8Array>[] = [];
  const { fs } = await open(
    alteredStore(store, {
      get: async (...what) => {
        const bytes = await store.get(...what);
        if (bytes !== undefined && bytes.length > MEBI / 2) answers.push(new WeakRef(bytes));
        return bytes;
      },
      swapHead: async (...what) => {
        isHeld = true;
        await swapped;
        return store.swapHead(...what);
      },
    }),
    { maxCacheBytes: 4 * MEBI },
  );
  await fs.readdir('/');
  const written = fs.writeFile('/new', 'x');
  await vi.waitFor(() => expect(isHeld).toBe(true));
  for (let i = 0; i < 40; i++) expect((await fs.readFile(`/f${i}`))[0]).toBe(i);
  await new Promise((resolve) => setTimeout(resolve, 10));
  collectGarbage();
  expect(answers.length).toBe(40);
  const kept = answers.filter((answer) => answer.deref() !== undefined).length;
  swap();
  await written;
  expect(kept).toBeLessThan(20);
});
