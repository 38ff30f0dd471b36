import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { afterEach, expect, it, vi } from 'vitest';
import { openTree as open } from './testing/open-tree.js';

afterEach(() => void vi.restoreAllMocks());

it('A collection reads bytes again that another request has received damaged', async () => {
  const store = new MemoryObjectStore();
  const { fs } = await open(store);
  await fs.writeFile('/f', 'a');
  const kept = await fs.checkpoint();
  const [name = ''] = store.objects.keys();
  await fs.writeFile('/f', 'b');
  let asked = 0;
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const backend = new ObjectTreeBackend(
    alteredStore(store, {
      get: async (asking, offset, length) => {
        const bytes = await store.get(asking, offset, length);
        if (asking !== name || bytes === undefined) return bytes;
        asked += 1;
        if (asked === 1) {
          await answered;
          return bytes.fill(0);
        }
        if (asked === 2) setTimeout(answer, 0);
        else await new Promise((resolve) => setTimeout(resolve, 20));
        return bytes;
      },
    }),
  );
  const read = backend.checkpointStore.load(kept.id, [{ kind: 'path', path: '/f', content: 0 }]);
  await vi.waitFor(() => expect(asked).toBe(1));
  // The event loop turns after every page.
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 100;
    return now;
  });
  expect(await backend.collectGarbage()).toEqual({ deleted: 0, waiting: 0, live: 2 });
  expect(await read).toMatchObject([{ kind: 'path' }]);
});
