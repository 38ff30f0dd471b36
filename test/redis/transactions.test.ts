import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { RedisStorage } from '@scratchfs/redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keysOf } from '../../packages/redis/src/connection/keys.js';
import { checkLayout } from '../../packages/redis/src/testing/layout-check.js';
import type { RedisLocation } from './clients.js';
import { isPrivateField } from './intercepted-commits.js';
import { hasServer, TestServer } from './servers/test-server.js';

const FILES = Array.from({ length: 8 }, (_, i) => `/d/f${i}`);
const READS = 25;
/** Content that is not loaded together with the metadata. */
const LONG = 'x'.repeat(200_000);

async function openTwice({ url, namespace }: RedisLocation): Promise<[FileSystem, FileSystem]> {
  const open = () => openFileSystem(new RedisStorage(url, { namespace }));
  return [await open(), await open()];
}

describe.skipIf(!hasServer)('transactions beside a writer that never rests', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.open();
  });
  afterAll(() => server.close());

  /** Runs work while another client gives all files the same new number, again and again. */
  async function beside(work: (fs: FileSystem, place: RedisLocation) => Promise<void>): Promise<void> {
    const place = server.place();
    const [fs, other] = await openTwice(place);
    const write = (i: number): Promise<void> =>
      other.transaction(async (tx) => {
        for (const path of FILES) await tx.writeFile(path, `${i}`);
      });
    await other.mkdir('/d');
    await write(0);
    let isOver = false;
    const writing = (async () => {
      for (let i = 1; !isOver; i++) await write(i);
    })();
    try {
      await work(fs, place);
    } finally {
      isOver = true;
      await writing;
    }
    await Promise.all([fs.close(), other.close()]);
  }

  it('that only read are never given up, and leave no pin', async () => {
    await beside(async (fs, { namespace }) => {
      for (let i = 0; i < READS; i++) {
        const { names, size, texts } = await fs.transaction(async (tx) => {
          const { totalSize } = await tx.stats();
          const texts: string[] = [];
          for (const path of FILES) texts.push(await tx.readText(path));
          return { size: totalSize, names: await tx.readdir('/d'), texts };
        });
        expect(names).toHaveLength(FILES.length);
        expect(new Set(texts).size, texts.join()).toBe(1);
        expect(texts.join('').length).toBe(size);
      }
      const keys = keysOf('scratchfs:', namespace);
      const pins = async () => (await server.control.hkeys(keys.head)).filter(isPrivateField);
      await expect.poll(pins).toEqual([]);
      expect(await server.control.hkeys(keys.head)).not.toContainEqual(expect.stringMatching(/^l\//));
    });
  });

  it('run again if a file that they have listed is replaced before it is read', async () => {
    const [fs, other] = await openTwice(server.place());
    await other.writeFile('/f', 'old');
    let runs = 0;
    const text = await fs.transaction(async (tx) => {
      runs += 1;
      await tx.readdir('/');
      if (runs === 1) await other.writeFile('/f', LONG);
      return tx.readText('/f');
    });
    expect(text).toBe(LONG);
    await Promise.all([fs.close(), other.close()]);
  });

  it('count all references while states are pinned', async () => {
    const place = server.place();
    const [fs, other] = await openTwice(place);
    await fs.mkdir('/d');
    for (const path of FILES) await fs.writeFile(path, '');
    const keys = keysOf('scratchfs:', place.namespace);
    let runs = 0;
    await fs.transaction(async (tx) => {
      runs += 1;
      await tx.readText('/d/f0');
      for (const path of FILES) await other.writeFile(path, `${runs}`);
      expect(await tx.readText('/d/f1')).toBe('1');
      expect((await server.control.hkeys(keys.head)).filter(isPrivateField)).toHaveLength(runs - 1);
      if (runs === 2) expect(await checkLayout(server.control, keys)).toEqual([]);
    });
    expect(runs).toBe(2);
    await other.writeFile('/d/f0', 'last');
    await expect.poll(() => checkLayout(server.control, keys)).toEqual([]);
    await Promise.all([fs.close(), other.close()]);
  });
});
