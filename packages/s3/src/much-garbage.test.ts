import type { ObjectStore } from '@scratchfs/core/object-tree';
import { alteredStore, MemoryObjectStore } from '@scratchfs/testkit';
import { expect, it } from 'vitest';
import { openTree as open } from './testing/open-tree.js';

/** More bytes in total than a list of garbage may have. */
const NAMES = Array.from({ length: 72_000 }, (_, i) => `objects/1-1-0-${String(i).padStart(1_000, '0')}`);

it('A garbage list of any length stays for olderThanMs, counted from when it was found', async () => {
  const store: ObjectStore & MemoryObjectStore = new MemoryObjectStore();
  const waiting = new Set<string>(NAMES);
  let now = 1_000;
  const { backend } = await open(
    alteredStore(store, {
      list: async (prefix, cursor) =>
        prefix === 'objects/' ? { names: [...waiting], cursor: undefined } : store.list(prefix, cursor),
      delete: async (names) => {
        for (const name of names) waiting.delete(name);
        await store.delete(names);
      },
    }),
    { clock: () => now },
  );
  const collect = () => backend.collectGarbage({ olderThanMs: 500 });
  expect(await collect()).toMatchObject({ deleted: 0, waiting: NAMES.length });
  now += 500;
  expect(await collect()).toMatchObject({ deleted: NAMES.length, waiting: 0 });
  expect([...store.objects.keys()].filter((name) => name.startsWith('trash/'))).toEqual([]);
});
