import { openFileSystem } from '@scratchfs/core';
import { RedisStorage } from '@scratchfs/redis';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { freshNamespace } from './clients.js';
import { useServer } from './faults/test-fixtures.js';
import { hasOwnServer } from './servers/test-server.js';

const FILESYSTEMS = 50;

describe.skipIf(!hasOwnServer)('Filesystems of one client', () => {
  const on = useServer();

  it('share a connection, and another one to watch', async () => {
    const { control } = on.server;
    const client = new Redis(on.server.url);
    await client.ping();
    const connections = async (): Promise<number> =>
      String(await control.call('CLIENT', 'LIST'))
        .trim()
        .split('\n').length;
    const before = await connections();
    const storages = Array.from(
      { length: FILESYSTEMS },
      () => new RedisStorage(client, { namespace: freshNamespace() }),
    );
    const other = new RedisStorage(on.server.url, { namespace: storages[7]?.namespace });
    try {
      const all = await Promise.all(storages.map((storage) => openFileSystem(storage)));
      await Promise.all(all.map((fs) => fs.writeFile('/f', 'x')));
      expect(await connections()).toBe(before + 1);
      const watching = all.map((fs) => fs.watch('/'));
      const seen = Promise.all(watching.map(async (events) => (await events.next()).value?.path));
      await Promise.all(all.map((fs, i) => fs.writeFile(`/g${i}`, 'x')));
      expect(await seen).toEqual(all.map((_, i) => `/g${i}`));
      // The read that was blocked when streams were added may still be closing its connection.
      await expect.poll(connections).toBe(before + 2);
      // A stream that is added during a blocked read is read immediately; the other streams miss nothing.
      await watching[3]?.return?.();
      const added = all[3]?.watch('/');
      const next = [added?.next(), watching[7]?.next()];
      await all[3]?.writeFile('/again', 'x');
      await (await openFileSystem(other)).writeFile('/by-another-client', 'x');
      const paths = (await Promise.all(next)).map((one) => one?.value?.path);
      expect(paths).toEqual(['/again', '/by-another-client']);
      await other.close();
      await expect.poll(connections).toBe(before + 2);
      for (const storage of storages.slice(1)) await storage.close();
      expect(await all[0]?.readText('/f')).toBe('x');
    } finally {
      await Promise.all([other, ...storages].map((storage) => storage.close()));
    }
    await expect.poll(connections).toBe(before);
    client.disconnect();
  });
});
