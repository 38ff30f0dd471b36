import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { asyncStorage, type Check, isStorageError, OutcomeUnknownError, openFileSystem } from '@scratchfs/core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { freshNamespace, openBackend, type RedisLocation, withClient } from './clients.js';
import { RedisServer } from './servers/redis-server.js';
import { hasOwnServer } from './servers/test-server.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const MB = 2 ** 20;

/** Describes a failed write. The error itself would keep alive what its stack refers to. */
function outcomeOf(error: unknown): string {
  if (error instanceof OutcomeUnknownError) return 'unknown';
  return isStorageError(error, 'unavailable') && !error.mayHaveHappened ? 'unsent' : String(error);
}

describe.skipIf(!hasOwnServer)('The result of an operation', () => {
  let server: RedisServer;
  let place: RedisLocation;

  beforeAll(async () => {
    server = await RedisServer.start({ appendOnly: 'always' });
    place = { url: server.url, namespace: freshNamespace() };
  });
  afterAll(() => server.stop());
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Returns the number of results that the server keeps for all clients. */
  async function kept(): Promise<number> {
    const keys = (await server.control.call('KEYS', `*{${place.namespace}}:u:*`)) as string[];
    const counts = await Promise.all(keys.map((key) => server.control.call('HLEN', key)));
    return counts.reduce<number>((sum, count) => sum + Number(count), 0);
  }

  it('is removed from the server once the client has it, even if only a checking request confirms that', async () => {
    const backend = openBackend(place);
    const fs = await openFileSystem(asyncStorage(backend));
    const checks = Array.from({ length: 700 }, (_, i): Check => ({ kind: 'entry', path: `/absent${i}`, id: null }));
    for (let i = 0; i < 100; i++) {
      await fs.writeFile('/f', `${i}`);
      const confirmed = await backend.commit({ operationId: `check${i}`, checks, writes: [], limits: {} });
      expect(confirmed.kind).toBe('ok');
    }
    expect(await kept()).toBeLessThan(40);
    await backend.close();
  });

  it("is kept for a day after a client's last write", async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const own = { url: server.url, namespace: freshNamespace() };
    const backend = openBackend(own);
    const fs = await openFileSystem(asyncStorage(backend));
    await fs.writeFile('/f', 'x');
    const [key] = (await server.control.call('KEYS', `*{${own.namespace}}:u:*`)) as [string];
    const left = async (write: () => Promise<unknown>): Promise<number> => {
      await server.control.pexpire(key, 1_000_000);
      await write();
      return server.control.pttl(key);
    };
    const [short, long] = [() => fs.writeFile('/f', 'y'), () => fs.mkdir(`/${Math.random()}`)];
    for (const write of [short, long]) {
      expect(await left(write)).toBeLessThanOrEqual(1_000_000);
      vi.setSystemTime(Date.now() + 3_600_001);
      expect(await left(write)).toBeGreaterThan(86_000_000);
      // A clock that was set back counts as an hour.
      vi.setSystemTime(Date.now() - 7_200_000);
      expect(await left(write)).toBeGreaterThan(86_000_000);
    }
    await backend.close();
  });

  it('that stays unknown does not keep the sent content in memory', async () => {
    const timeoutMs = 300;
    const backend = openBackend(place, timeoutMs);
    const fs = await openFileSystem(asyncStorage(backend, { timeoutMs, retries: 0 }));
    const succeeds = (text: string): Promise<boolean> =>
      fs.writeFile('/f', text).then(
        () => true,
        () => false,
      );
    await expect.poll(() => succeeds('before')).toBe(true);
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    server.freeze();
    const failures: string[] = [];
    for (let i = 0; i < 16; i++)
      await fs.writeFile('/f', new Uint8Array(250_000)).catch((error: unknown) => failures.push(outcomeOf(error)));
    server.resume();
    await expect.poll(() => succeeds('after')).toBe(true);
    // Requests in transit arrive first.
    const held = (): number => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers - before;
    };
    for (let look = 0; held() >= 2 * MB && look < 120; look++) await sleep(250);
    // Writes during which the client had to reconnect may not have been sent at all, and say so.
    expect(failures).toHaveLength(16);
    expect(new Set(failures)).toContain('unknown');
    expect([...new Set(failures)].filter((one) => one !== 'unknown' && one !== 'unsent')).toEqual([]);
    expect(held()).toBeLessThan(2 * MB);
    await backend.close();
    expect(await withClient(place, (other) => other.readText('/f'))).toBe('after');
  });
});
