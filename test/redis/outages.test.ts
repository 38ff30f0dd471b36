import { setTimeout as sleep } from 'node:timers/promises';
import { type FileSystem, isStorageError } from '@scratchfs/core';
import { differences } from '@scratchfs/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CHANGES, clock, plantScene } from '../faults/harness.js';
import type { Change } from '../faults/remote/trial.js';
import { startTurnClock } from '../faults/turn-clock.js';
import { type Client, connect, freshNamespace, type RedisLocation, stateAt, withClient, withPort } from './clients.js';
import { Scene } from './faults/scene.js';
import { TcpProxy } from './proxy/tcp-proxy.js';
import { RedisServer } from './servers/redis-server.js';
import { hasOwnServer } from './servers/test-server.js';

const LONG_TIMEOUT = { timeout: 300_000 };
/** Timeout of one request, in milliseconds. A call sends several requests, and each may be repeated. */
const TIMEOUT_MS = 800;
const BOUNDED_MS = 60_000;

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: unknown) => error,
  );

/** Expects a failure that says the storage may recover, within a bounded time. */
async function expectUnavailable(work: Promise<unknown>): Promise<void> {
  const started = performance.now();
  const error = await failure(work);
  expect(isStorageError(error), String(error)).toBe(true);
  expect(['unavailable', 'timeout']).toContain((error as { kind: string }).kind);
  expect(performance.now() - started).toBeLessThan(BOUNDED_MS);
}

describe.skipIf(!hasOwnServer)('A server outage', () => {
  let server: RedisServer;
  let place: RedisLocation;
  let client: Client;
  let fs: FileSystem;

  beforeEach(async () => {
    server = await RedisServer.start({ appendOnly: 'always' });
    place = { url: server.url, namespace: freshNamespace() };
    client = await connect(place, { timeoutMs: TIMEOUT_MS });
    fs = client.fs;
    await fs.writeFile('/f', 'before');
  });
  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  it(
    'a dead server causes retryable errors in bounded time, and calls succeed after its restart',
    LONG_TIMEOUT,
    async () => {
      await server.kill();
      await Promise.all([
        expectUnavailable(fs.readText('/f')),
        expectUnavailable(fs.writeFile('/f', 'lost')),
        expectUnavailable(fs.rm('/f')),
        expectUnavailable(fs.checkpoint()),
      ]);
      await server.start();
      expect(await fs.readText('/f')).toBe('before');
      await fs.writeFile('/f', 'after');
      expect(await fs.readText('/f')).toBe('after');
    },
  );

  it(
    'a hanging server causes retryable errors in bounded time, and calls succeed when it resumes',
    LONG_TIMEOUT,
    async () => {
      server.freeze();
      try {
        await expectUnavailable(fs.readText('/f'));
        await expectUnavailable(fs.appendFile('/f', '!'));
      } finally {
        server.resume();
      }
      expect(await fs.readText('/f')).toMatch(/^before!?$/);
      await fs.writeFile('/f', 'after');
      expect(await fs.readText('/f')).toBe('after');
    },
  );

  it(
    'a change of checkpoints can be aborted while the server is down, and then does not happen',
    LONG_TIMEOUT,
    async () => {
      const first = await fs.checkpoint('first');
      await server.kill();
      // From here on the connection is known to be lost.
      await failure(fs.readText('/f'));
      const changes: ((signal: AbortSignal) => Promise<unknown>)[] = [
        (signal) => fs.checkpoint('second', { signal }),
        (signal) => fs.rollback(first, { signal }),
        (signal) => fs.drop(first, { signal }),
        (signal) => fs.fork({ signal }),
      ];
      for (const change of changes) {
        const controller = new AbortController();
        const result = failure(change(controller.signal));
        await sleep(50);
        controller.abort(new Error('enough'));
        const elapsed = startTurnClock();
        expect(String(await result)).toBe('Error: enough');
        expect(elapsed()).toBeLessThan(450);
      }
      await server.start();
      expect((await fs.checkpoints()).map(({ name }) => name)).toEqual(['first']);
    },
  );

  it('a request that surely did not happen is repeated when the server comes back', LONG_TIMEOUT, async () => {
    const patient = await connect(place, { timeoutMs: 10_000 });
    try {
      const first = await patient.fs.checkpoint('first');
      await patient.fs.writeFile('/f', 'after');
      await server.kill();
      await failure(fs.readText('/f'));
      const rolledBack = patient.fs.rollback(first);
      await sleep(3_500);
      await server.start();
      await rolledBack;
      expect(await patient.fs.readText('/f')).toBe('before');
    } finally {
      await patient.close();
    }
  });

  it(
    'a server that stops replying, even in the handshake of the next connection, is found again once it replies',
    LONG_TIMEOUT,
    async () => {
      const proxy = await TcpProxy.open(server.port);
      const silent = await connect(withPort(place, proxy.port), { timeoutMs: TIMEOUT_MS });
      try {
        await silent.fs.writeFile('/g', 'before');
        proxy.plan = () => 'hang';
        await expectUnavailable(silent.fs.writeFile('/g', 'lost'));
        await expectUnavailable(silent.fs.readText('/g'));
        // Connections opened until now never reply; new ones do.
        proxy.forget();
        const deadline = performance.now() + BOUNDED_MS;
        let text: unknown;
        while (typeof text !== 'string' && performance.now() < deadline)
          text = await silent.fs.readText('/g').catch(() => undefined);
        expect(text).toMatch(/^(before|lost)$/);
        await silent.fs.writeFile('/g', 'after');
        expect(await fs.readText('/g')).toBe('after');
      } finally {
        await silent.close();
        await proxy.close();
      }
    },
  );

  it('a server that was never reachable causes retryable errors', LONG_TIMEOUT, async () => {
    await server.kill();
    await expectUnavailable(connect({ ...place, namespace: freshNamespace() }, { timeoutMs: TIMEOUT_MS }));
  });

  it(
    'operations succeed across a restart, a script flush, and killed or paused connections',
    LONG_TIMEOUT,
    async () => {
      const patient = await connect(place, { timeoutMs: 5_000 });
      const { control } = server;
      const deeds = [
        async () => {
          await server.kill();
          await server.start();
        },
        () => control.call('SCRIPT', 'FLUSH'),
        () => control.call('CLIENT', 'KILL', 'TYPE', 'NORMAL', 'SKIPME', 'yes'),
        () => control.call('CLIENT', 'PAUSE', '100', 'ALL'),
      ];
      let expected = 'before';
      try {
        for (const deed of [...deeds, ...deeds]) {
          const [, ...rest] = await Promise.all([
            deed(),
            ...Array.from({ length: 20 }, (_, i) => patient.fs.writeFile(`/n${i}`, expected)),
            patient.fs.appendFile('/f', '.'),
          ]);
          expected += '.';
          expect(rest).toHaveLength(21);
          expect(await patient.fs.readText('/f')).toBe(expected);
        }
        expect((await stateAt(place)).stats.fileCount).toBe(21);
      } finally {
        await patient.close();
      }
    },
  );

  it('a server without free memory refuses changes and leaves everything as it was', LONG_TIMEOUT, async () => {
    const scene = await Scene.prepare(server);
    const change = async (full: FileSystem, name: string, make: Change, copy: RedisLocation): Promise<void> => {
      const after = await scene.after(name, make);
      expect(await full.readText('/f')).toBe('one two three');
      await server.control.config('SET', 'maxmemory', '1');
      const error = await failure(make(full));
      expect(await full.readText('/t/sub/b')).toBeDefined();
      await server.control.config('SET', 'maxmemory', '0');
      // A change that only removes may succeed.
      if (error !== 'no error') expect(isStorageError(error, 'unavailable'), `${name}: ${String(error)}`).toBe(true);
      expect(differences(error === 'no error' ? after : scene.before, await stateAt(copy)), name).toEqual([]);
      await full.writeFile('/again', 'works');
    };
    for (const [name, make] of scene.changes) {
      const copy = await scene.copy();
      const options = { clock: clock.read, timeoutMs: TIMEOUT_MS };
      await withClient(copy, (full) => change(full, name, make, copy), options);
    }
  });

  it('a server without free memory can be read by new clients, and removals free memory', LONG_TIMEOUT, async () => {
    const bytes = new Uint8Array(500_000);
    for (let i = 0; i < 8; i++) await fs.writeFile(`/${i}`, bytes);
    await fs.checkpoint('kept');
    const { control } = server;
    const used = Number(/used_memory:(\d+)/.exec(await control.info('memory'))?.[1]);
    await control.config('SET', 'maxmemory', String(used));
    await expectUnavailable(fs.writeFile('/more', bytes));
    await withClient(place, async (late) => {
      expect(await late.readText('/f')).toBe('before');
      expect(await late.readdir('/')).toHaveLength(9);
      await Promise.all([late.rm('/1'), late.rm('/2')]);
      await late.drop('kept');
      for (const name of ['3', '4', '5']) await late.rm(name);
      expect(await late.readdir('/')).toEqual(['0', '6', '7', 'f']);
    });
    // Another client's change also frees what the closed client had removed.
    while ((await control.llen(`scratchfs:{${place.namespace}}:q`)) > 0) {
      await fs.chmod('/f', 0o600);
      await sleep(20);
    }
    await fs.writeFile('/more', bytes);
    expect((await fs.stat('/more')).size).toBe(bytes.length);
  });

  it(
    'a server that cannot write to its disk refuses changes and leaves everything as it was',
    LONG_TIMEOUT,
    async () => {
      const copy = { url: server.url, namespace: freshNamespace() };
      await withClient(copy, plantScene, { clock: clock.read });
      const proxy = await TcpProxy.open(server.port);
      try {
        await withClient(
          withPort(copy, proxy.port),
          async (refused) => {
            const before = await stateAt(copy);
            proxy.plan = () => ({ error: 'MISCONF Errors writing to the AOF file: No space left on device' });
            await expectUnavailable(CHANGES['cp -r']?.(refused) as Promise<unknown>);
            expect(differences(before, await stateAt(copy))).toEqual([]);
            proxy.forget();
            await refused.writeFile('/again', 'works');
          },
          { clock: clock.read, timeoutMs: TIMEOUT_MS },
        );
      } finally {
        await proxy.close();
      }
    },
  );

  describe('a failover to the replica', () => {
    let replica: RedisServer;
    let proxy: TcpProxy;
    let through: Client;

    beforeEach(async () => {
      replica = await RedisServer.start({ replicaOf: server.port });
      proxy = await TcpProxy.open(server.port);
      through = await connect(withPort(place, proxy.port), { timeoutMs: 2_000 });
      expect(await through.fs.readText('/f')).toBe('before');
      await isInStep(server, replica);
    });
    afterEach(async () => {
      await through.close();
      await proxy.close();
      await replica.stop();
    });

    it('continues on the new master, whatever the old one still replies', LONG_TIMEOUT, async () => {
      await through.fs.writeFile('/f', 'once more');
      await isInStep(server, replica);
      await replica.control.replicaof('NO', 'ONE');
      await server.control.replicaof('127.0.0.1', replica.port);
      // The old master is a replica now and says READONLY; new connections lead to the new one.
      proxy.target = replica.port;
      await through.fs.appendFile('/f', '.');
      expect(await through.fs.readText('/f')).toBe('once more.');
      expect(await withClient({ ...place, url: replica.url }, (other) => other.readText('/f'))).toBe('once more.');
    });

    it('is detected as a loss if the replica never received acknowledged writes', LONG_TIMEOUT, async () => {
      // From here on no write reaches the replica.
      await replica.control.replicaof('NO', 'ONE');
      await through.fs.writeFile('/f', 'acknowledged');
      await through.fs.writeFile('/only-there', 'x');
      expect(await through.fs.readText('/f')).toBe('acknowledged');
      await withClient({ ...place, url: replica.url }, async (other) => {
        for (let i = 0; i < 10; i++) await other.writeFile('/f', `another life ${i}`);
      });
      proxy.target = replica.port;
      await server.kill();
      const error = await failure(through.fs.readText('/f'));
      expect(isStorageError(error, 'lost'), String(error)).toBe(true);
      expect(isStorageError(await failure(through.fs.writeFile('/f', 'x')), 'lost')).toBe(true);
      expect(await withClient({ ...place, url: replica.url }, (other) => other.readText('/f'))).toBe('another life 9');
    });
  });
});

async function isInStep(master: RedisServer, replica: RedisServer): Promise<void> {
  const offset = async (of: RedisServer, field: string): Promise<string | undefined> =>
    new RegExp(`${field}:(\\d+)`).exec(await of.control.info('replication'))?.[1];
  for (;;) {
    const [written, arrived] = [await offset(master, 'master_repl_offset'), await offset(replica, 'slave_repl_offset')];
    const isUp = (await replica.control.info('replication')).includes('master_link_status:up');
    if (isUp && written === arrived) return;
    await sleep(20);
  }
}
