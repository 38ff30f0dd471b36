import { isStorageError, openFileSystem } from '@scratchfs/core';
import { type RedisClient, RedisStorage } from '@scratchfs/redis';
import { describe, expect, it } from 'vitest';
import { plantScene } from '../faults/harness.js';
import { freshNamespace } from './clients.js';
import { useServer } from './faults/test-fixtures.js';
import { TcpProxy } from './proxy/tcp-proxy.js';
import { keysOf } from './servers/namespaces.js';
import { RedisCluster } from './servers/redis-cluster.js';
import { hasOwnServer } from './servers/test-server.js';

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: unknown) => error,
  );
const isLost = (error: unknown): boolean => isStorageError(error, 'lost');

/** Deletes a filesystem that another client has open, and checks what both clients and a third one get. */
async function destroyShared(client: RedisClient | string, keys: (namespace: string) => Promise<string[]>) {
  const namespace = freshNamespace();
  const storage = new RedisStorage(client, { namespace });
  const other = new RedisStorage(client, { namespace });
  const later = new RedisStorage(client, { namespace });
  try {
    const fs = await openFileSystem(storage);
    await plantScene(fs);
    await fs.checkpoint('before');
    const fork = await fs.fork();
    await fork.writeFile('/f', 'forked');
    const otherFs = await openFileSystem(other);
    await otherFs.writeFile('/g', 'x');
    const watching = otherFs.watch('/');
    await otherFs.writeFile('/g', 'y');
    await watching.return?.();
    await storage.destroy();
    expect(await keys(namespace)).toEqual([]);
    for (const call of [
      () => fs.readText('/f'),
      () => fs.writeFile('/f', 'x'),
      () => fork.readText('/f'),
      () => otherFs.readText('/g'),
      () => otherFs.writeFile('/g', 'x'),
      () => otherFs.rollback('before'),
    ])
      expect(isLost(await failure(call())), String(call)).toBe(true);
    expect(await keys(namespace)).toEqual([]);
    // Repeating it is safe, and a new filesystem is not deleted by a client of the old one.
    await storage.destroy();
    const laterFs = await openFileSystem(later);
    expect(await laterFs.readdir('/')).toEqual([]);
    expect(await laterFs.checkpoints()).toEqual([]);
    await laterFs.writeFile('/new', 'n');
    expect(isLost(await failure(other.destroy()))).toBe(true);
    expect(await laterFs.readText('/new')).toBe('n');
    await later.destroy();
  } finally {
    await Promise.all([storage, other, later].map((one) => one.close()));
  }
  expect(await keys(namespace)).toEqual([]);
}

describe.skipIf(!hasOwnServer)('RedisStorage.destroy()', () => {
  const on = useServer();

  it('deletes every key; clients that have the filesystem open get an error of kind lost', async () => {
    await destroyShared(on.server.url, (namespace) => keysOf(on.server.control, namespace));
  });

  it('deletes every key in a cluster', async () => {
    const cluster = await RedisCluster.start();
    const client = cluster.client();
    try {
      await destroyShared(client, async (namespace) =>
        keysOf((await cluster.ownerOf(`{${namespace}}`)).control, namespace),
      );
    } finally {
      client.disconnect();
      await cluster.stop();
    }
  });

  it('deletes a filesystem of another layout version, and remains without a head, but nothing else', async () => {
    const { control } = on.server;
    const storage = new RedisStorage(on.server.url, { namespace: freshNamespace() });
    const { namespace } = storage;
    const head = `scratchfs:{${namespace}}:m`;
    try {
      await control.hset(head, { f: '0', t: 'old:1', n: '2' });
      await control.hset(`scratchfs:{${namespace}}:o`, '1', 'D');
      expect(isStorageError(await failure(storage.exists('/f')), 'version')).toBe(true);
      await storage.destroy();
      expect(await keysOf(control, namespace)).toEqual([]);
      const second = new RedisStorage(on.server.url, { namespace, create: false });
      await control.hset(`scratchfs:{${namespace}}:o`, '1', 'D');
      await second.destroy();
      expect(await keysOf(control, namespace)).toEqual([]);
      await control.set(head, 'mine');
      const third = new RedisStorage(on.server.url, { namespace });
      expect(isStorageError(await failure(third.destroy()), 'corrupt')).toBe(true);
      expect(await control.get(head)).toBe('mine');
      await Promise.all([second.close(), third.close()]);
    } finally {
      await storage.close();
    }
  });

  it('spares a filesystem that another client creates during the call', async () => {
    for (const isCreatedBefore of [false, true]) {
      const proxy = await TcpProxy.open(on.server.port);
      const namespace = freshNamespace();
      const storage = new RedisStorage(`redis://127.0.0.1:${proxy.port}`, { namespace });
      const other = new RedisStorage(on.server.url, { namespace });
      const creator = new RedisStorage(on.server.url, { namespace });
      try {
        if (isCreatedBefore) await (await openFileSystem(storage)).writeFile('/old', 'o');
        const inTurn = (async () => {
          // Holds the second request until another client has deleted the filesystem and created a new one.
          const second = new Promise<void>((resolve) => {
            let count = 0;
            proxy.plan = ({ name }) => {
              if (name !== 'EVAL') return 'none';
              count += 1;
              if (count === 2) resolve();
              return count === 2 ? { delayMs: 400 } : 'none';
            };
          });
          await second;
          if (isCreatedBefore) await other.destroy();
          await (await openFileSystem(creator)).writeFile('/new', 'n');
        })();
        await Promise.all([storage.destroy(), inTurn]);
        expect(await (await openFileSystem(creator)).readText('/new')).toBe('n');
        await creator.destroy();
      } finally {
        await Promise.all([storage, other, creator].map((one) => one.close()));
        await proxy.close();
      }
    }
  });

  it('is not a method of filesystems', async () => {
    const storage = new RedisStorage(on.server.url, { namespace: freshNamespace() });
    expect('destroy' in (await openFileSystem(storage))).toBe(false);
    await storage.close();
  });
});

describe.skipIf(!hasOwnServer)('RedisStorage.close()', () => {
  const on = useServer();

  it('leaves no key that outlives ttlMs', async () => {
    const namespace = freshNamespace();
    const ttlMs = 60_000;
    for (let i = 0; i < 3; i++) {
      const storage = new RedisStorage(on.server.url, { namespace, ttlMs });
      const fs = await openFileSystem(storage);
      await fs.writeFile('/f', 'x');
      await fs.checkpoint();
      await storage.close();
    }
    const { control } = on.server;
    const keys = await keysOf(control, namespace);
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) expect(await control.pttl(key), key).toBeLessThanOrEqual(ttlMs);
    expect(await control.hkeys(`scratchfs:{${namespace}}:m`)).not.toContainEqual(expect.stringMatching(/^u\//));
  });
});
