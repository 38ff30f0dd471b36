import { createSnapshot, createSnapshotSync, restoreSnapshot } from '@scratchfs/core/snapshot';
import { openWorkingCopy } from '@scratchfs/core/working-copy';
import { RedisStorage } from '@scratchfs/redis';
import { createFileSystem } from 'scratchfs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectTurns } from '../faults/event-loop.js';
import { type Client, connect, freshNamespace, type RedisLocation } from './clients.js';
import { RedisServer } from './servers/redis-server.js';

const COUNT = 20_000;

let server: RedisServer;
let place: RedisLocation;
let client: Client;

beforeAll(async () => {
  server = await RedisServer.start();
  place = { url: server.url, namespace: freshNamespace() };
  client = await connect(place);
  const files = (function* () {
    for (let i = 0; i < COUNT; i++) yield [`/d/f${i}`, 'x'] as const;
  })();
  await restoreSnapshot(client.fs, createSnapshotSync(createFileSystem({ files })));
});

afterAll(async () => {
  await client.close();
  await server.stop();
});

const OPERATIONS: Readonly<Record<string, () => Promise<unknown>>> = {
  readdir: async () => expect(await client.fs.readdir('/d')).toHaveLength(COUNT),
  entries: async () => expect(await client.fs.entries('/d')).toHaveLength(COUNT),
  walk: async () => {
    let count = 0;
    for await (const _ of client.fs.walk('/d')) count += 1;
    expect(count).toBe(COUNT);
  },
  snapshot: () => createSnapshot(client.fs),
  'transaction that lists it after a change': () =>
    client.fs.transaction(async (inner) => {
      await inner.writeFile('/d/f0', 'y');
      expect(await inner.readdir('/d')).toHaveLength(COUNT);
    }),
};

for (const [name, work] of Object.entries(OPERATIONS)) {
  test(`${name} of a directory of 20,000 names never holds the event loop for 50 ms of CPU`, async () => {
    await expectTurns(work);
  }, 600_000);
}

describe('a working copy', () => {
  const CHANGED = 10_000;
  let round = 0;

  test.each(['changed', 'new'])(
    'push of 10,000 %s files never holds the event loop for 50 ms of CPU',
    async (which) => {
      const storage = new RedisStorage(place.url, { namespace: place.namespace });
      const copy = await openWorkingCopy(storage, { paths: ['/d'] });
      const push = async (): Promise<void> => expect((await copy.push()).kind).toBe('pushed');
      await expectTurns(push, async () => {
        round += 1;
        const directory = which === 'new' ? `/d/${round}` : '/d';
        if (which === 'new') copy.fileSystem.mkdirSync(directory);
        for (let i = 0; i < CHANGED; i++) copy.fileSystem.writeFileSync(`${directory}/f${i}`, `${round}`);
      });
      await copy.close();
      await storage.close();
    },
    600_000,
  );
});
