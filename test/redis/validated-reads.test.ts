import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { createSnapshot, restoreSnapshot } from '@scratchfs/core/snapshot';
import { RedisStorage } from '@scratchfs/redis';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasOwnServer, hasServer, TestServer } from './servers/test-server.js';

/** More writes than fit into one request, so they are staged and become visible atomically. */
const FILE_COUNT = 400;

const CHANGES: Readonly<Record<string, (fs: FileSystem) => Promise<unknown>>> = {
  'a write': (fs) => fs.writeFile('/d/f', 'new'),
  'a write of the same': async (fs) => fs.writeFile('/d/f', await fs.readFile('/d/f')),
  'an append': (fs) => fs.appendFile('/d/f', '!'),
  'a removal': (fs) => fs.rm('/d/f'),
  'a removal of all': (fs) => fs.rm('/d', { recursive: true }),
  'another directory of that name': async (fs) => {
    await fs.rename('/d', '/e');
    await fs.cp('/e', '/d', { recursive: true });
    await fs.writeFile('/d/f', 'copy');
  },
  'a checkpoint and a rollback': async (fs) => {
    const before = await fs.checkpoint();
    await fs.writeFile('/d/f', 'later');
    await fs.rollback(before);
    await fs.writeFile('/d/g', 'other');
  },
  'many writes at once': (fs) =>
    fs.transaction(async (tx) => {
      for (let i = 0; i < FILE_COUNT; i++) await tx.writeFile(`/d/${i}`, String(i));
      await tx.writeFile('/d/f', 'many');
    }),
  'another whole': async (fs) => {
    const other = await openFileSystem(new RedisStorage(server.url, { namespace: server.place().namespace }));
    await other.mkdir('/d');
    for (let i = 0; i < FILE_COUNT; i++) await other.writeFile(`/d/${i}`, String(i));
    await restoreSnapshot(fs, await createSnapshot(other));
    await other.close();
  },
};

let server: TestServer;

describe.skipIf(!hasServer)('Reads that were repeated', () => {
  beforeAll(async () => {
    server = await TestServer.open();
  });
  afterAll(() => server.close());

  /** Reads everything that depends on the changes, so that each result is cached. */
  const look = async (fs: FileSystem): Promise<unknown> => ({
    text: await fs.readText('/d/f').catch((error: { code: string }) => error.code),
    other: await fs.exists('/d/g'),
    names: await fs.readdir('/').catch((error: { code: string }) => error.code),
    size: (await fs.stat('/d').catch(() => undefined))?.mtimeMs,
    stats: await fs.stats(),
  });

  const cases = Object.entries(CHANGES).flatMap(([name, change]) => [
    { title: name, change, isMeanwhile: false },
    { title: `${name} (with concurrent reads)`, change, isMeanwhile: true },
  ]);

  it.each(cases)('are loaded again after $title by another client', async ({ change, isMeanwhile }) => {
    const { url, namespace } = server.place();
    const [mine, theirs] = [new RedisStorage(url, { namespace }), new RedisStorage(url, { namespace })];
    const fs = await openFileSystem(mine, { files: { '/d/f': 'old' } });
    for (let i = 0; i < 3; i++) await look(fs);
    const other = await openFileSystem(theirs);
    // With `isMeanwhile`, reads continue during the change.
    let isOver = !isMeanwhile;
    const looking = (async () => {
      while (!isOver) await look(fs);
    })();
    await change(other);
    isOver = true;
    await looking;
    const fresh = new RedisStorage(url, { namespace });
    expect(await look(fs)).toEqual(await look(await openFileSystem(fresh)));
    // The client's own change invalidates them as well.
    await fs.writeFile('/own', 'own');
    for (let i = 0; i < 3; i++) expect(await look(fs)).toEqual(await look(other));
    for (const storage of [mine, theirs, fresh]) await storage.close();
  });

  it.skipIf(!hasOwnServer)('cost the server no lookups', async () => {
    const { url, namespace } = server.place();
    const control = new Redis(url);
    const lookups = async (): Promise<number> =>
      Number(/cmdstat_hget:calls=(\d+)/.exec(await control.info('commandstats'))?.[1]);
    const storage = new RedisStorage(url, { namespace });
    const fs = await openFileSystem(storage, { files: { '/d/f': 'old' } });
    const commands = async (times: number): Promise<number> => {
      const before = await lookups();
      for (let i = 0; i < times; i++) await fs.readText('/d/f');
      return (await lookups()) - before;
    };
    await commands(2);
    expect(await commands(20)).toBe(0);
    await fs.writeFile('/other', '');
    expect(await commands(1)).toBeGreaterThan(0);
    await storage.close();
    control.disconnect();
  });
});
