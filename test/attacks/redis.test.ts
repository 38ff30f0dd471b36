import { type FileSystem, type InitialFiles, openFileSystem } from '@scratchfs/core';
import { RedisStorage } from '@scratchfs/redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attack, worlds } from '../../packages/sandbox/src/testing/attack.js';
import { CHANGES, NAMES, namesAfterChange } from '../../packages/sandbox/src/testing/hidden-names.js';
import { type Backends, FILES, LAYERS, PLAIN, POLICIES } from '../../packages/sandbox/src/testing/worlds.js';
import { hasServer, TestServer } from '../redis/servers/test-server.js';

let server: TestServer;
const storages: RedisStorage[] = [];

function openRedis(files: InitialFiles): Promise<FileSystem> {
  const { url, namespace } = server.place();
  const storage = new RedisStorage(url, { namespace });
  storages.push(storage);
  return openFileSystem(storage, { files });
}

const BACKENDS: Backends = { Redis: () => openRedis(FILES) };

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
    600_000,
  );

  it.each(Object.entries(POLICIES))('a sandbox of %s never names what it hides', async (_name, policy) => {
    const guard = async (fileSystem: FileSystem): Promise<FileSystem> => (await policy(fileSystem)).fileSystem;
    const wrong: string[] = [];
    for (const change of Object.keys(CHANGES)) {
      const world = { fileSystem: await openRedis(NAMES), failure: undefined };
      wrong.push(...(await namesAfterChange(world, guard, change)));
    }
    expect(wrong).toEqual([]);
  });
});
