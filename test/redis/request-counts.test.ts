import { setTimeout as sleep } from 'node:timers/promises';
import { asyncStorage, openFileSystem } from '@scratchfs/core';
import { RedisBackend } from '@scratchfs/redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBudgetFiles, REQUEST_BUDGETS, type RequestBudget } from '../faults/round-trips.js';
import { type RedisLocation, withClient, withPort } from './clients.js';
import { TcpProxy } from './proxy/tcp-proxy.js';
import { hasServer, TestServer } from './servers/test-server.js';

const FILES = 10_000;

/** Budgets of operations that only a complete server can show. */
const MORE_PRICES: Readonly<Record<string, RequestBudget>> = {
  'a walk of 10,000 files in 3 levels': {
    work: async (fs) => {
      let files = 0;
      for await (const { kind } of fs.walk('/deep')) if (kind === 'file') files += 1;
      expect(files).toBe(FILES);
    },
    most: 10,
  },
};

/** Large operations take several requests, because each script must block the server only briefly. */
const IN_SEVERAL: Readonly<Record<string, number>> = {
  'a walk of 5,000 files': 6,
  'glob over 5,000 files': 6,
  'grep through 5,000 files': 20,
  // There are 10,000 more files here.
  'a snapshot of 6,000 files': 30,
  // 13 to 16 requests, and those that free the replaced objects, whose number depends on the load.
  'a transaction of 1,000 new files': 24,
  'a stream of 3 MB from a file': 14,
  'a stream of 3 MB into a file, in chunks of 1 MB': 20,
};

describe.skipIf(!hasServer)('The cost of an operation in commands', () => {
  let server: TestServer;
  let proxy: TcpProxy;
  let place: RedisLocation;

  beforeAll(async () => {
    server = await TestServer.open();
    proxy = await TcpProxy.open(Number(new URL(server.url).port || 6379));
    place = server.place();
    await withClient(place, async (fs) => {
      await createBudgetFiles(fs);
      await fs.transaction(async (tx) => {
        for (let d = 0; d < 100; d++) {
          await tx.mkdir(`/deep/${d % 10}/${d}`, { recursive: true });
          for (let i = 0; i < FILES / 100; i++) await tx.writeFile(`/deep/${d % 10}/${d}/${i}`, '');
        }
      });
      // From here on the server has the scripts for reads and commits.
      await fs.readText('/deep/0/0/0');
      await fs.readText('/deep/0/0/0');
    });
  });
  afterAll(async () => {
    await proxy.close();
    await server.close();
  });

  /** Waits until the garbage of earlier operations is freed, so that it does not count for later ones. */
  const isSwept = async (): Promise<void> => {
    while ((await server.control.llen(`scratchfs:{${place.namespace}}:q`)) > 0) await sleep(20);
  };

  for (const [name, { work, warm, ...price }] of Object.entries({ ...REQUEST_BUDGETS, ...MORE_PRICES })) {
    const most = IN_SEVERAL[name] ?? price.most;
    it(`${name} costs no more than ${most}`, async () => {
      const { url, namespace } = withPort(place, proxy.port);
      const backend = new RedisBackend(url, { namespace });
      // Connects without loading any files.
      await backend.load([{ kind: 'path', path: '/', content: 0 }]);
      const fs = await openFileSystem(asyncStorage(backend));
      await warm?.(fs);
      await isSwept();
      proxy.forget();
      const commands: string[] = [];
      proxy.onCommand = ({ words }) => commands.push(words.slice(0, 2).join(' '));
      await work(fs);
      const cost = [...commands];
      await backend.close();
      expect(cost.length, cost.join(', ')).toBeLessThanOrEqual(most);
    });
  }
});
