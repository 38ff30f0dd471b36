import { openFileSystem } from '@scratchfs/core';
import { RedisStorage } from '@scratchfs/redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attack, worlds } from '../../packages/sandbox/src/testing/attack.js';
import { type Backends, FILES, LAYERS, PLAIN } from '../../packages/sandbox/src/testing/worlds.js';
import { hasServer, TestServer } from '../redis/servers/test-server.js';

let server: TestServer;
const storages: RedisStorage[] = [];

const BACKENDS: Backends = {
  Redis: () => {
    const { url, namespace } = server.place();
    const storage = new RedisStorage(url, { namespace });
    storages.push(storage);
    return openFileSystem(storage, { files: FILES });
  },
};

const layers = process.env['SANDBOX_ATTACKS'] === 'all' ? Object.keys(LAYERS) : [PLAIN];

describe.skipIf(!hasServer)('with a redis-server', () => {
  beforeAll(async () => {
    server = await TestServer.open();
  });
  afterAll(async () => {
    for (const storage of storages) await storage.close();
    await server.close();
  });

  it.each(worlds(BACKENDS, layers))(
    '$policy over $backend, $layer, lets no method read, change or detect what is outside',
    async (world) => {
      expect(await attack(world)).toEqual([]);
    },
    240_000,
  );
});
