import { RedisStorage } from '@scratchfs/redis';
import { workingCopySuite } from '@scratchfs/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { hasServer, TestServer } from './servers/test-server.js';

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
});
