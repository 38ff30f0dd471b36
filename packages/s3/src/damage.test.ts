import { MemoryObjectStore } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';
import { CountingStore } from './testing/counting-store.js';
import { openTree as open } from './testing/open-tree.js';

describe("The location of a file's content", () => {
  /** Damages everything in the object except its last byte, which is the file's content. */
  const damages: Readonly<Record<string, readonly [string, (store: MemoryObjectStore, name: string) => void]>> = {
    damaged: [
      'corrupt',
      (store, name) => {
        const bytes = store.objects.get(name)?.slice() ?? new Uint8Array(0);
        bytes[bytes.length - 1] = 0;
        store.objects.set(name, bytes);
      },
    ],
    gone: ['lost', (store, name) => store.objects.delete(name)],
  };

  for (const [how, [kind, damage]] of Object.entries(damages))
    it(`${how}: all other files can still be written, even by a commit that compacts`, async () => {
      const store = new MemoryObjectStore();
      const { fs: writer } = await open(store);
      await writer.mkdir('/d');
      await writer.writeFile('/d/f', 'a small file');
      await writer.writeFile('/d/g', 'beside it');
      const [name = '', beside = ''] = [...store.objects.keys()].slice(-2);
      await writer.writeFile('/log', '');
      damage(store, name);
      const { fs } = await open(store, { maxCacheBytes: 0 });
      for (let i = 0; i < 150; i++) await fs.writeFile('/log', `${i}`);
      expect([await fs.readText('/log'), await fs.readText('/d/g')]).toEqual(['149', 'beside it']);
      await expect(fs.readText('/d/f')).rejects.toMatchObject({ kind });
      expect((await fs.stat('/d/f')).size).toBe(12);
      // From here on compaction works again.
      await fs.rm('/d/f');
      for (let i = 0; i < 70; i++) await fs.writeFile('/log', `${i}`);
      store.objects.delete(beside);
      expect(await (await open(store)).fs.readText('/d/g')).toBe('beside it');
    });

  for (const [how, [, damage]] of Object.entries(damages))
    it(`${how}: the other files are compacted, so that later readers need no more requests than without the damage`, async () => {
      const store = new MemoryObjectStore();
      const { fs: writer } = await open(store);
      for (let i = 0; i < 40; i++) await writer.mkdir(`/${i}`);
      await writer.writeFile('/0/f', 'a small file');
      const name = [...store.objects.keys()].at(-1) ?? '';
      await writer.writeFile('/0/g', 'beside it');
      damage(store, name);
      const costs: number[] = [];
      for (let round = 0; round < 5; round++) {
        const { fs } = await open(store);
        for (let i = 0; i < 50; i++) await fs.writeFile(`/${(i * 7) % 40}/g`, `${round} ${i}`);
        const counting = new CountingStore(store);
        const { fs: fresh } = await open(counting);
        await fresh.writeFile('/log', 'x');
        costs.push(counting.counts.get);
      }
      expect(Math.max(...costs)).toBeLessThan(10);
    });
});
