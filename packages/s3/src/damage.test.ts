import { describe, expect, it } from 'vitest';
import { CountingStore } from './testing/counting-store.js';
import { MapStore } from './testing/map-store.js';
import { openTree as open } from './testing/open-tree.js';

describe("The location of a file's content", () => {
  /** Everything that was there when the file was written, but the last byte, which is the file's. */
  const damages: Readonly<Record<string, readonly [string, (store: MapStore, name: string) => void]>> = {
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
    it(`${how}, all others are written all the same, also when things are to be brought together`, async () => {
      const store = new MapStore();
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
      // From then on things are brought together again.
      await fs.rm('/d/f');
      for (let i = 0; i < 70; i++) await fs.writeFile('/log', `${i}`);
      store.objects.delete(beside);
      expect(await (await open(store)).fs.readText('/d/g')).toBe('beside it');
    });

  for (const [how, [, damage]] of Object.entries(damages))
    it(`${how}, the others are brought together, so that who comes later reads no more than without it`, async () => {
      const store = new MapStore();
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
