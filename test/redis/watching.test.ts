import { setTimeout as sleep } from 'node:timers/promises';
import type { FileSystem, WatchEvent } from '@scratchfs/core';
import { restrict } from 'scratchfs/layers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Client, connect, freshNamespace, type RedisLocation, withPort } from './clients.js';
import { TcpProxy } from './proxy/tcp-proxy.js';
import { RedisServer } from './servers/redis-server.js';
import { hasOwnServer } from './servers/test-server.js';

const LONG_TIMEOUT = { timeout: 300_000 };

/** Returns the events that a watcher receives, filled as they arrive. */
async function listen(fs: FileSystem): Promise<string[]> {
  const told: string[] = [];
  const events = fs.watch('/', { recursive: true, maxQueue: 100_000 });
  void (async () => {
    for await (const event of events) told.push(textOf(event));
  })();
  await fs.stat('/');
  return told;
}

const textOf = ({ type, path, from }: WatchEvent): string => `${type} ${path}${from === undefined ? '' : ` < ${from}`}`;

describe.skipIf(!hasOwnServer)('A watcher of a filesystem that other clients change', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let place: RedisLocation;
  let clients: Client[];

  const open = async (port: number): Promise<FileSystem> => {
    const client = await connect(withPort(place, port), { timeoutMs: 5_000 });
    clients.push(client);
    return client.fs;
  };
  const stream = (): string => `scratchfs:{${place.namespace}}:w`;

  beforeEach(async () => {
    server = await RedisServer.start();
    proxy = await TcpProxy.open(server.port);
    place = { url: server.url, namespace: freshNamespace() };
    clients = [];
  });
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await proxy.close();
    await server.stop();
  });

  it(
    'receives each change once, in commit order, and its own changes before their calls return',
    LONG_TIMEOUT,
    async () => {
      const fs = await open(server.port);
      const others = await Promise.all([open(server.port), open(server.port)]);
      await fs.writeFile('/count', '0');
      const told = await listen(fs);
      await Promise.all(
        [fs, ...others].map(async (one, who) => {
          for (let i = 0; i < 60; i++) {
            await one.writeFile(`/${who}-${i}`, '');
            if (one === fs) expect(told).toContain(`create /${who}-${i}`);
          }
        }),
      );
      await fs.writeFile('/end', '');
      await expect.poll(() => told.length).toBe(181);
      expect(new Set(told).size).toBe(181);
      for (const who of [0, 1, 2])
        expect(told.filter((text) => text.startsWith(`create /${who}-`))).toEqual(
          Array.from({ length: 60 }, (_, i) => `create /${who}-${i}`),
        );
    },
  );

  it(
    'receives a transaction as a whole, a moved or removed tree as one event, and a rollback as an overflow',
    LONG_TIMEOUT,
    async () => {
      const [fs, other] = await Promise.all([open(server.port), open(server.port)]);
      const told = await listen(fs);
      await other.transaction(async (tx) => {
        await tx.mkdir('/a/b', { recursive: true });
        for (let i = 0; i < 400; i++) await tx.writeFile(`/a/b/${i}`, 'x');
      });
      await other.rename('/a', '/c');
      const before = await other.checkpoint();
      await other.rm('/c', { recursive: true });
      await other.rollback(before);
      await expect.poll(() => told.length).toBe(405);
      expect(told.slice(0, 3)).toEqual(['create /a', 'create /a/b', 'create /a/b/0']);
    },
  );

  it('misses nothing while its connections are cut', LONG_TIMEOUT, async () => {
    const [fs, other] = await Promise.all([open(proxy.port), open(server.port)]);
    const told = await listen(fs);
    for (let i = 0; i < 100; i++) {
      if (i % 10 === 5) proxy.cut();
      await other.writeFile(`/${i}`, '');
      await sleep(5);
    }
    await expect.poll(() => told.length).toBe(100);
    expect(told).toEqual(Array.from({ length: 100 }, (_, i) => `create /${i}`));
  });

  it('receives an overflow if it was disconnected for too long', LONG_TIMEOUT, async () => {
    const [fs, other] = await Promise.all([open(proxy.port), open(server.port)]);
    proxy.delayMs = 300;
    // The connection is cut while the first request for changes is in transit; the request is repeated.
    const asksForNews = new Promise((resolve) => {
      proxy.onCommand = ({ name }) => name === 'XREAD' && resolve(undefined);
    });
    const listening = listen(fs);
    await asksForNews;
    await sleep(100);
    proxy.isRefusing = true;
    proxy.cut();
    await other.writeFile('/unheard', '');
    // The entry of a watcher that does not renew expires; here it is deleted immediately.
    await server.control.hdel(`scratchfs:{${place.namespace}}:m`, 'a');
    await server.control.del(stream());
    await other.writeFile('/unsaid', '');
    proxy.isRefusing = false;
    const told = await listening;
    await expect.poll(() => told).toEqual(['overflow /']);
    await other.writeFile('/heard', '');
    await expect.poll(() => told).toEqual(['overflow /', 'create /heard']);
  });

  it('receives an overflow if more has happened than the server keeps', LONG_TIMEOUT, async () => {
    const [fs, other] = await Promise.all([open(proxy.port), open(server.port)]);
    const told = await listen(fs);
    await other.writeFile('/first', '');
    await expect.poll(() => told).toEqual(['create /first']);
    proxy.isRefusing = true;
    proxy.cut();
    for (let i = 0; i < 40; i++) await other.writeFile('/first', `${i}`);
    await server.control.xtrim(stream(), 'MAXLEN', 10);
    proxy.isRefusing = false;
    await expect.poll(() => told.length).toBeGreaterThan(1);
    expect(told[1]).toBe('overflow /');
  });

  it('receives an overflow from a restarted server, and later events', LONG_TIMEOUT, async () => {
    await server.stop();
    server = await RedisServer.start({ appendOnly: 'always' });
    place = { ...place, url: server.url };
    const [fs, other] = await Promise.all([open(server.port), open(server.port)]);
    const told = await listen(fs);
    await other.writeFile('/before', '');
    await server.kill();
    await server.start();
    await expect
      .poll(() =>
        other.writeFile('/after', '').then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await expect.poll(() => told.length).toBeGreaterThan(1);
    await expect.poll(() => other.writeFile('/later', '').then(() => told.at(-1))).toMatch(/later$/);
    expect(told.slice(0, 2)).toEqual(['create /before', 'overflow /']);
  });

  it('receives nothing that a policy hides', LONG_TIMEOUT, async () => {
    const [fs, other] = await Promise.all([open(server.port), open(server.port)]);
    await other.mkdir('/secret');
    const seen = restrict(fs, { check: () => {}, isVisible: (path) => !path.startsWith('/secret') });
    const told = await listen(seen);
    await other.writeFile('/secret/key', '');
    await other.writeFile('/open', '');
    await other.rename('/open', '/secret/open');
    await expect.poll(() => told).toEqual(['create /open', 'remove /open']);
  });

  it('costs commands only while it watches, none before and none afterwards', LONG_TIMEOUT, async () => {
    const [fs, other] = await Promise.all([open(server.port), open(server.port)]);
    const calls = async (): Promise<number> => {
      await server.control.config('RESETSTAT');
      await other.writeFile('/f', 'x');
      const info = await server.control.info('commandstats');
      const own = [...info.matchAll(/cmdstat_(\w+)(?:\|\w+)?:calls=(\d+)/g)].filter(
        ([, name]) => !['config', 'info', 'evalsha'].includes(name as string),
      );
      return own.reduce((sum, [, , count]) => sum + Number(count), 0);
    };
    await other.writeFile('/f', 'x');
    const alone = await calls();
    const events = fs.watch('/');
    await fs.stat('/');
    await other.writeFile('/f', 'x');
    const watched = await calls();
    expect(watched).toBeGreaterThan(alone);
    await events.return?.();
    await server.control.hset(`scratchfs:{${place.namespace}}:m`, 'a', 1);
    await other.writeFile('/f', 'x');
    await other.writeFile('/f', 'x');
    expect(await calls()).toBe(alone);
  });
});
