import { type AsyncStorage, type FileSystem, openFileSystem } from '@scratchfs/core';
import { RedisBackend, type RedisClient, RedisStorage, type RedisStorageOptions } from '@scratchfs/redis';
import { backendSuite, fileSystemSuite, storageSuite } from '@scratchfs/testkit';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { freshNamespace } from './clients.js';
import { RedisCluster } from './servers/redis-cluster.js';
import { hasOwnServer, hasServer, TestServer } from './servers/test-server.js';

interface Server {
  readonly connection: RedisClient & { disconnect(): void };
  namespace(): string;
  close(): Promise<unknown>;
}

/** Runs the suites on a connection that the user has created. */
function suitesOn(open: () => Promise<Server>, isWhole = true): void {
  let server: Server;
  const opened: AsyncStorage[] = [];
  beforeAll(async () => {
    server = await open();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((storage) => storage.close()));
  });
  afterAll(async () => {
    server.connection.disconnect();
    await server.close();
  });
  const storageOn = (options: RedisStorageOptions): RedisStorage => {
    const storage = new RedisStorage(server.connection, { namespace: server.namespace(), ...options });
    opened.push(storage);
    return storage;
  };
  const test = { describe, it: (name: string, body: () => Promise<void>) => it(name, body, 60_000) };

  backendSuite({ test, create: () => new RedisBackend(server.connection, { namespace: server.namespace() }) });
  storageSuite({ test, create: ({ clock }) => storageOn({ clock }) });
  if (!isWhole) return;
  const storages = new WeakMap<FileSystem, RedisStorage>();
  fileSystemSuite({
    test,
    create: async ({ clock, limits }) => {
      const storage = storageOn({ clock });
      const fs = await openFileSystem(storage, { clock, limits });
      storages.set(fs, storage);
      return fs;
    },
    openAgain: (fs) => openFileSystem(storageOn({ namespace: (storages.get(fs) as RedisStorage).namespace })),
  });
}

describe.skipIf(!hasServer)('One server, with ioredis 6', () => {
  suitesOn(async () => {
    const server = await TestServer.open();
    return {
      connection: new Redis(server.url),
      namespace: () => server.place().namespace,
      close: () => server.close(),
    };
  });
});

// Everything above the adapter is the same for both versions, so all of it runs only with SCRATCHFS_TEST_EVERYTHING.
describe.skipIf(!hasServer)('One server, with ioredis 5', () => {
  suitesOn(async () => {
    const server = await TestServer.open();
    return {
      connection: new Redis5(server.url) as unknown as Redis,
      namespace: () => server.place().namespace,
      close: () => server.close(),
    };
  }, process.env.SCRATCHFS_TEST_EVERYTHING !== undefined);
});

describe.skipIf(!hasOwnServer)('A cluster of three masters', () => {
  suitesOn(async () => {
    const cluster = await RedisCluster.start();
    return { connection: cluster.client(), namespace: freshNamespace, close: () => cluster.stop() };
  });
});
