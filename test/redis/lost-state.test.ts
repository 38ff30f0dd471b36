import { setTimeout as sleep } from 'node:timers/promises';
import { isStorageError, openFileSystem } from '@scratchfs/core';
import { RedisStorage } from '@scratchfs/redis';
import { dump } from '@scratchfs/testkit';
import { beforeEach, describe, expect, it } from 'vitest';
import { plantScene } from '../faults/harness.js';
import { freshNamespace, type RedisLocation, stateAt, withClient } from './clients.js';
import { useServer } from './faults/test-fixtures.js';
import { copyNamespace, dropNamespace, keysOf, putNamespace } from './servers/namespaces.js';
import { hasOwnServer } from './servers/test-server.js';

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: unknown) => error,
  );
const isLost = (error: unknown): boolean => isStorageError(error, 'lost');

describe.skipIf(!hasOwnServer)('State that vanishes without the client', () => {
  const on = useServer();
  let place: RedisLocation;
  beforeEach(() => {
    place = on.place();
  });

  it('makes every call fail with kind lost, never shows an empty filesystem', async () => {
    await withClient(place, async (fs) => {
      await plantScene(fs);
      await on.server.control.flushall();
      for (const call of [
        () => fs.readText('/f'),
        () => fs.exists('/f'),
        () => fs.readdir('/'),
        () => fs.stats(),
        () => fs.writeFile('/f', 'again'),
        () => fs.mkdir('/new'),
        () => fs.checkpoint(),
        () => dump(fs),
      ])
        expect(isLost(await failure(call())), String(call)).toBe(true);
      expect(await keysOf(on.server.control, place.namespace)).toEqual([]);
    });
  });

  it('counts as lost if another client has created a new filesystem under the same name', async () => {
    await withClient(place, async (fs) => {
      await plantScene(fs);
      await on.server.control.flushall();
      await withClient(place, (other) => plantScene(other));
      expect(isLost(await failure(fs.readText('/f')))).toBe(true);
      expect(isLost(await failure(fs.writeFile('/f', 'x')))).toBe(true);
      expect(await withClient(place, (other) => other.readText('/f'))).toBe('one two three');
    });
  });

  it('counts as lost if the server went back to an older copy', async () => {
    await withClient(place, async (fs) => {
      await plantScene(fs);
      const older = await copyNamespace(on.server.control, place.namespace);
      await fs.writeFile('/f', 'acknowledged');
      await dropNamespace(on.server.control, place.namespace);
      await putNamespace(on.server.control, older, place.namespace, place.namespace);
      expect(isLost(await failure(fs.readText('/f')))).toBe(true);
    });
    expect(await withClient(place, (other) => other.readText('/f'))).toBe('one two three');
  });

  it('is an error if any single key is gone, never a part of the tree', async () => {
    await withClient(place, plantScene);
    const whole = await stateAt(place);
    const copy = await copyNamespace(on.server.control, place.namespace);
    for (const [key] of copy) {
      if (key.includes(':u:')) continue;
      const other = { ...place, namespace: freshNamespace() };
      await putNamespace(on.server.control, copy, place.namespace, other.namespace);
      await withClient(other, async (fs) => {
        await fs.stats();
        await on.server.control.del(key.replace(place.namespace, other.namespace));
        const found = await dump(fs).catch((error: Error) => error);
        if (found instanceof Error)
          expect(['lost', 'corrupt'], `${key}: ${found}`).toContain((found as { kind?: string }).kind);
        else
          expect(JSON.stringify(found.entries.map(({ path }) => path)), key).toBe(
            JSON.stringify(whole.entries.map(({ path }) => path)),
          );
      });
      const fresh = await failure(withClient(other, (fs) => dump(fs)));
      if (isStorageError(fresh)) expect(['lost', 'corrupt'], `${key}, a new client: ${fresh}`).toContain(fresh.kind);
    }
  });

  it('is lost when it was not used for ttlMs, and stays while it is used', async () => {
    const ttlMs = 100_000;
    const storage = new RedisStorage(place.url, { namespace: place.namespace, ttlMs });
    const { control } = on.server;
    const lives = async (): Promise<number[]> => {
      const keys = await keysOf(control, place.namespace);
      return Promise.all(keys.map((key) => control.pttl(key)));
    };
    const age = async (): Promise<void> => {
      for (const key of await keysOf(control, place.namespace)) await control.pexpire(key, 30_000);
    };
    try {
      const fs = await openFileSystem(storage);
      await plantScene(fs);
      for (const use of [() => fs.readText('/f'), () => fs.stats(), () => fs.writeFile('/f', 'used')]) {
        await age();
        await use();
        // The table of one client's results expires on its own.
        expect((await lives()).filter((left) => left > 30_000).length, String(use)).toBeGreaterThanOrEqual(2);
        expect(Math.min(...(await lives()))).toBeGreaterThan(0);
      }
      for (const key of await keysOf(control, place.namespace)) await control.pexpire(key, 1);
      await sleep(10);
      expect(isLost(await failure(fs.readText('/f')))).toBe(true);
      expect(isLost(await failure(fs.writeFile('/f', 'x')))).toBe(true);
      expect(await keysOf(control, place.namespace)).toEqual([]);
    } finally {
      await storage.close();
    }
  });

  it('is an error of kind lost for a client with create: false', async () => {
    const storage = new RedisStorage(place.url, { namespace: place.namespace, create: false });
    try {
      expect(isLost(await failure(openFileSystem(storage)))).toBe(true);
      expect(await keysOf(on.server.control, place.namespace)).toEqual([]);
    } finally {
      await storage.close();
    }
  });
});
