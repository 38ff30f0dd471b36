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

  it.each([
    ['an entry that is not a change', (stream: string, next: number) => ['XADD', stream, `${next}-1`, 'c', 'garbage']],
    ['an entry with an impossible number', (stream: string) => ['XADD', stream, '18446744073709551615-1', 'c', '']],
    ['another value in its place', (stream: string) => ['SET', stream, 'text']],
  ])('end only the watchers of the one whose change stream has %s', async (_, damage) => {
    const { control } = on.server;
    const client = new Redis(on.server.url);
    const storages = [0, 1, 2].map(() => new RedisStorage(client, { namespace: freshNamespace() }));
    try {
      const all = await Promise.all(storages.map((storage) => openFileSystem(storage)));
      const watching = all.map((fs) => fs.watch('/'));
      const seen = Promise.all(watching.map((events) => events.next()));
      await Promise.all(all.map((fs) => fs.writeFile('/f', 'x')));
      await seen;
      const failures = [watching[1]?.next(), all[1]?.watch('/').next()].map((next) =>
        next?.catch((error: unknown) => error),
      );
      const others = [watching[0]?.next(), watching[2]?.next()];
      const { namespace } = storages[1] as RedisStorage;
      const stream = `scratchfs:{${namespace}}:w`;
      const last = Number(await control.hget(`scratchfs:{${namespace}}:m`, 'a#'));
      const [command = '', ...args] = damage(stream, last + 1);
      if (command === 'SET') await control.del(stream);
      await control.call(command, ...args);
      await Promise.all([all[0], all[2]].map((fs) => fs?.writeFile('/g', 'x')));
      for (const error of await Promise.all(failures))
        expect(error).toMatchObject({ name: 'StorageError', kind: 'corrupt' });
      for (const one of await Promise.all(others)) expect(one?.value).toMatchObject({ path: '/g' });
      await all[0]?.writeFile('/h', 'x');
      expect((await watching[0]?.next())?.value).toMatchObject({ path: '/h' });
    } finally {
      await Promise.all(storages.map((storage) => storage.close()));
      client.disconnect();
    }
  });

  it('share a connection, and another one to watch', async () => {
    const { control } = on.server;
    const client = new Redis(on.server.url);
    await client.ping();
    const connections = async (): Promise<number> =>
      String(await control.call('CLIENT', 'LIST'))
        .trim()
        .split('\n').length;
    // That of the control, and the client's. Those of earlier tests may still be closing.
    const before = 2;
    await expect.poll(connections).toBe(before);
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
