import { isStorageError, openFileSystem } from '@scratchfs/core';
import { openWorkingCopy, type WorkingCopy } from '@scratchfs/core/working-copy';
import { type RedisClient, RedisStorage } from '@scratchfs/redis';
import { workingCopySuite } from '@scratchfs/testkit';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshNamespace, withPort } from './clients.js';
import { TcpProxy } from './proxy/tcp-proxy.js';
import { dropNamespace } from './servers/namespaces.js';
import { RedisCluster } from './servers/redis-cluster.js';
import { hasOwnServer, hasServer, TestServer } from './servers/test-server.js';

describe.skipIf(!hasServer)('Redis', () => {
  let server: TestServer;
  let connections: readonly Redis[];
  beforeAll(async () => {
    server = await TestServer.open();
    connections = [new Redis(server.url), new Redis(server.url)];
  });
  afterAll(async () => {
    for (const connection of connections) connection.disconnect();
    await server.close();
  });

  workingCopySuite({
    test: { describe, it: (name, body) => it(name, body, 60_000) },
    histories: 3,
    create: () => {
      const { namespace } = server.place();
      const [ours, theirs] = connections.map((connection) => new RedisStorage(connection, { namespace }));
      return { ours: ours as RedisStorage, theirs: theirs as RedisStorage };
    },
  });

  it('a lost storage refuses pushes and pulls, and the copy in memory stays', async () => {
    const [connection] = connections as [Redis];
    const { namespace } = server.place();
    const storage = new RedisStorage(connection, { namespace });
    await openFileSystem(storage, { files: { '/a': 'a' } });
    const copy = await openWorkingCopy(storage);
    copy.fileSystem.writeFileSync('/a', 'ours');
    await dropNamespace(connection, namespace);
    for (const call of [() => copy.push(), () => copy.pull(), () => openWorkingCopy(storage)]) {
      const failure = await call().catch((error: unknown) => error);
      expect(isStorageError(failure, 'lost'), String(failure)).toBe(true);
    }
    expect(copy.fileSystem.readTextSync('/a')).toBe('ours');
    expect(copy.status()).toMatchObject([{ path: '/a', change: 'modified' }]);
    await storage.close();
  });

  it('5,000 files of 4 KB are opened with 21 commands, and the cost of a push depends on the changes', async () => {
    const place = server.place();
    const proxy = await TcpProxy.open(Number(new URL(server.url).port || 6379));
    const others = new RedisStorage(place.url, { namespace: place.namespace });
    const shared = await openFileSystem(others);
    for (let first = 0; first < 50; first += 10)
      await shared.transaction(async (tx) => {
        for (let d = first; d < first + 10; d++) {
          await tx.mkdir(`/src/d${d}`, { recursive: true });
          for (let i = 0; i < 100; i++) await tx.writeFile(`/src/d${d}/${i}`, new Uint8Array(4_096).fill(i));
        }
      });
    const { url, namespace } = withPort(place, proxy.port);
    const storage = new RedisStorage(url, { namespace });
    // From here on the server has the scripts for opening a working copy.
    await openWorkingCopy(storage, { paths: ['/src/d0'] });
    const cost = async (work: () => Promise<unknown>): Promise<number> => {
      proxy.forget();
      await work();
      return proxy.commands;
    };
    const opened: WorkingCopy[] = [];
    expect(await cost(async () => opened.push(await openWorkingCopy(storage)))).toBeLessThanOrEqual(21);
    const copy = opened[0] as WorkingCopy;
    const { fileSystem } = copy;
    expect(fileSystem.readFileSync('/src/d49/99')).toEqual(new Uint8Array(4_096).fill(99));
    const change = (from: number, to: number): void => {
      for (let i = from; i < to; i++)
        fileSystem.writeFileSync(`/src/d${i % 50}/${i % 100}`, new Uint8Array(4_096).fill(i + 1));
    };
    change(0, 1);
    expect(await cost(() => copy.push())).toBeLessThanOrEqual(2);
    change(0, 300);
    expect(await cost(() => copy.push())).toBeLessThanOrEqual(20);
    await storage.close();
    await others.close();
    await proxy.close();
  });

  it('working copies of two namespaces do not see each other', async () => {
    const [connection] = connections as [Redis];
    const storages = [1, 2].map(() => new RedisStorage(connection, { namespace: server.place().namespace }));
    const copies = await Promise.all(storages.map((storage) => openWorkingCopy(storage)));
    for (const [i, copy] of copies.entries()) {
      copy.fileSystem.writeFileSync('/which', `${i}`);
      expect((await copy.push()).kind).toBe('pushed');
    }
    for (const [i, copy] of copies.entries()) {
      expect(await copy.pull()).toEqual({ kind: 'pulled', changes: [], conflicts: [] });
      expect(copy.fileSystem.readTextSync('/which')).toBe(`${i}`);
    }
    await Promise.all(storages.map((storage) => storage.close()));
  });
});

/** Runs the suite over other clients. Everything above the client is the same. */
function alsoOn(
  open: () => Promise<{
    readonly clients: readonly (RedisClient & { disconnect(): void })[];
    close(): Promise<unknown>;
  }>,
): void {
  let server: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    server = await open();
  });
  afterAll(async () => {
    for (const client of server.clients) client.disconnect();
    await server.close();
  });
  workingCopySuite({
    test: { describe, it: (name, body) => it(name, body, 60_000) },
    histories: 1,
    create: () => {
      const namespace = freshNamespace();
      const [ours, theirs] = server.clients.map((client) => new RedisStorage(client, { namespace }));
      return { ours: ours as RedisStorage, theirs: theirs as RedisStorage };
    },
  });
}

describe.skipIf(!hasOwnServer)('A cluster of three masters', () => {
  alsoOn(async () => {
    const cluster = await RedisCluster.start();
    return { clients: [cluster.client(), cluster.client()], close: () => cluster.stop() };
  });
});

describe.skipIf(!hasOwnServer)('Redis with ioredis 5', () => {
  alsoOn(async () => {
    const server = await TestServer.open();
    const client = (): Redis => new Redis5(server.url) as unknown as Redis;
    return { clients: [client(), client()], close: () => server.close() };
  });
});
