import { inspect } from 'node:util';
import { isStorageError, openFileSystem } from '@scratchfs/core';
import { type RedisClient, RedisStorage, type RedisStorageOptions } from '@scratchfs/redis';
import { Redis } from 'ioredis';
import { createFileSystem, openStorage } from 'scratchfs';
import { afterEach, describe, expect, it } from 'vitest';
import { freshNamespace } from './clients.js';
import { useProcesses, useServer } from './faults/test-fixtures.js';
import { TcpProxy } from './proxy/tcp-proxy.js';
import { keysOf } from './servers/namespaces.js';
import { RedisServer } from './servers/redis-server.js';
import { hasOwnServer } from './servers/test-server.js';

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: unknown) => error,
  );

const opened: RedisStorage[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((storage) => storage.close()));
});

function open(target: RedisClient | string, options: RedisStorageOptions = {}): RedisStorage {
  const storage = new RedisStorage(target, { namespace: freshNamespace(), ...options });
  opened.push(storage);
  return storage;
}

describe.skipIf(!hasOwnServer)('Connecting', () => {
  const on = useServer();
  const processes = useProcesses(1);

  describe('is refused', () => {
    it.each(['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-lru', 'volatile-ttl'])(
      'if the server evicts by %s, unless acceptEviction is set',
      async (policy) => {
        await on.server.control.config('SET', 'maxmemory-policy', policy);
        try {
          const error = await failure(open(on.server.url).stats());
          expect(isStorageError(error, 'unsupported')).toBe(true);
          expect(String(error)).toContain(policy);
          expect(String(error)).toContain('acceptEviction');
          expect(await open(on.server.url, { acceptEviction: true }).stats()).toMatchObject({ nodeCount: 0 });
        } finally {
          await on.server.control.config('SET', 'maxmemory-policy', 'noeviction');
        }
      },
    );

    it('if the server is too old, unless acceptOldServer is set', async () => {
      const proxy = await TcpProxy.open(on.server.port);
      try {
        proxy.plan = ({ name }) => (name === 'INFO' ? { reply: '$20\r\nredis_version:6.2.14\r\n' } : 'none');
        const url = `redis://127.0.0.1:${proxy.port}`;
        const error = await failure(open(url).stats());
        expect(isStorageError(error, 'unsupported'), String(error)).toBe(true);
        expect(String(error)).toContain('6.2.14');
        expect(await open(url, { acceptOldServer: true }).stats()).toMatchObject({ nodeCount: 0 });
      } finally {
        await proxy.close();
      }
    });

    it('if the namespace holds keys of something else, which stay unchanged', async () => {
      const first = open(on.server.url);
      await first.set({ path: '/f', content: 'x' });
      for (const key of await keysOf(on.server.control, first.namespace)) {
        if (key.includes(':u:')) continue;
        const namespace = freshNamespace();
        const taken = key.replace(first.namespace, namespace);
        await on.server.control.set(taken, 'mine');
        const error = await failure(open(on.server.url, { namespace }).set({ path: '/f' }));
        expect(isStorageError(error), `${key}: ${String(error)}`).toBe(true);
        expect(String(error)).toContain('namespace');
        expect(await on.server.control.get(taken)).toBe('mine');
        expect(await keysOf(on.server.control, namespace)).toEqual([taken]);
      }
    });

    it.each([
      'redis://',
      'http://localhost',
      'redis://localhost/files',
      'redis://localhost?namespace=a&namespace=b',
      'redis://localhost?nonsense=1',
      'redis://localhost?ttlMs=soon',
    ])('for the URL %j', (url) => {
      expect(() => new RedisStorage(url)).toThrow(TypeError);
    });

    it.each([
      [{ namespace: '' }, RangeError],
      [{ namespace: 'a}b' }, RangeError],
      [{ namespace: 5 }, TypeError],
      [{ keyPrefix: '{x}' }, RangeError],
      [{ ttlMs: 1 }, RangeError],
      [{ ttlMs: '1000' }, TypeError],
      [{ timeoutMs: 0 }, RangeError],
      [{ timeout: 5 }, TypeError],
      [{ acceptEviction: 'yes' }, TypeError],
    ])('with the options %j', (options, kind) => {
      expect(() => new RedisStorage('redis://localhost', options as RedisStorageOptions)).toThrow(kind);
    });

    it.each([undefined, null, 5, {}, new URL('redis://localhost')])(
      'to %s, which is neither a client nor a URL',
      (target) => {
        expect(() => new RedisStorage(target as never)).toThrow(TypeError);
      },
    );
  });

  it('by URL works like by client, with the options in the URL', async () => {
    const namespace = freshNamespace();
    const fs = await createFileSystem({ storage: `${on.server.url}/0?namespace=${namespace}&keyPrefix=mine:` });
    await fs.writeFile('/f', 'by URL');
    await fs.close();
    const storage = open(on.server.control, { namespace, keyPrefix: 'mine:' });
    expect(await (await openFileSystem(storage)).readText('/f')).toBe('by URL');
    for (const key of await keysOf(on.server.control, namespace)) expect(key).toMatch(/^mine:\{/);
    const again = await openStorage(`${on.server.url}?namespace=${namespace}&keyPrefix=mine:`);
    expect(await again.exists('/f')).toBe(true);
    await again.close();
  });

  it('keeps filesystems of different names apart, and those of one name together', async () => {
    const [a, b] = [open(on.server.url), open(on.server.url)];
    await a.set({ path: '/f', content: 'a' });
    await b.set({ path: '/f', content: 'b' });
    await b.clear();
    const same = open(on.server.url, { namespace: a.namespace });
    expect(new TextDecoder().decode((await same.get('/f'))?.content)).toBe('a');
    expect(await b.exists('/f')).toBe(false);
  });

  it("uses the database and the key prefix of the user's client", async () => {
    const client = new Redis(on.server.url, { db: 3, keyPrefix: 'theirs:' });
    const storage = open(client);
    await storage.set({ path: '/f' });
    client.disconnect();
    const look = new Redis(on.server.url, { db: 3 });
    const keys = await keysOf(look, storage.namespace);
    look.disconnect();
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) expect(key).toMatch(/^theirs:/);
    expect(await keysOf(on.server.control, storage.namespace)).toEqual([]);
  });

  it("leaves the user's client as it was", async () => {
    const client = new Redis(on.server.url, { retryStrategy: () => null });
    await client.ping();
    const before = inspect(client.options, { depth: 5 });
    const listeners = client.eventNames().map((name) => [name, client.listenerCount(name)]);
    const storage = open(client);
    const fs = await openFileSystem(storage);
    await fs.writeFile('/f', 'x');
    const watching = fs.watch('/');
    await fs.writeFile('/f', 'y');
    await watching.return?.();
    await storage.close();
    expect(client.status).toBe('ready');
    expect(inspect(client.options, { depth: 5 })).toBe(before);
    expect(client.eventNames().map((name) => [name, client.listenerCount(name)])).toEqual(listeners);
    expect(await client.ping()).toBe('PONG');
    client.disconnect();
  });

  it('rejects every call after close, and the process can exit', async () => {
    const storage = open(on.server.url);
    const fs = await openFileSystem(storage);
    await fs.writeFile('/f', 'x');
    await storage.close();
    await storage.close();
    expect(isStorageError(await failure(storage.exists('/f')), 'closed')).toBe(true);
    expect(
      await processes.pool.workers[0]?.run('openAndClose', { url: on.server.url, namespace: storage.namespace }),
    ).toBe(0);
  });

  it('with wrong credentials fails, and no error shows them', async () => {
    const password = 'hunter2-swordfish';
    const server = await RedisServer.start({ password });
    const user = 'alice-in-redis';
    const wrong = 'open-sesame-9';
    try {
      await server.control.call('ACL', 'SETUSER', user, 'on', `>${password}`, '~*', '&*', '+@all', '-eval', '-evalsha');
      const errors: unknown[] = [];
      const unreachable = [
        `redis://${user}:${password}@127.0.0.1:1`,
        `redis://${user}:${password}@no-such-host.invalid`,
      ];
      const urls = [
        ...unreachable,
        server.url.replace(password, wrong),
        `redis://${user}:${wrong}@127.0.0.1:${server.port}`,
        `redis://${user}:${password}@127.0.0.1:${server.port}`,
        `redis://127.0.0.1:${server.port}`,
        `redis://${user}:${password}@127.0.0.1:${server.port}/nonsense`,
        `redis://${user}:${password}@:0:0`,
      ];
      for (const url of urls) {
        try {
          const storage = open(url, { timeoutMs: 400, retries: 0 });
          errors.push(await failure(storage.set({ path: '/f' })));
        } catch (error) {
          errors.push(error);
        }
        // Each of these calls lasts until all connection attempts have failed, and reports the same error.
        if (unreachable.includes(url)) continue;
        try {
          errors.push(
            await failure(createFileSystem({ storage: url, files: { '/f': 'x' }, limits: { maxTotalSize: 0 } })),
          );
        } catch (error) {
          errors.push(error);
        }
      }
      for (const error of errors) {
        expect(error).toBeInstanceOf(Error);
        const everything = inspect(error, { depth: 12, showHidden: true });
        for (const secret of [password, wrong]) expect(everything).not.toContain(secret);
      }
    } finally {
      await server.stop();
    }
  });
});
