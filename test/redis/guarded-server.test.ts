import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isStorageError, openFileSystem } from '@scratchfs/core';
import { RedisStorage } from '@scratchfs/redis';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshNamespace } from './clients.js';
import { RedisServer } from './servers/redis-server.js';
import { hasOwnServer } from './servers/test-server.js';

const PASSWORD = 'hunter2-swordfish';

/** Runs operations that send different commands to the server. */
async function useAll(storage: RedisStorage): Promise<void> {
  const fs = await openFileSystem(storage);
  await fs.writeFile('/file', 'x');
  await fs.mkdir('/a/b', { recursive: true });
  await fs.writeFile('/a/b/large', new Uint8Array(1_000_000));
  await fs.transaction(async (tx) => {
    for (let i = 0; i < 300; i++) await tx.writeFile(`/a/${i}`, 'x');
  });
  const before = await fs.checkpoint('before');
  const fork = await fs.fork();
  await fork.close();
  await fs.rm('/a', { recursive: true });
  await fs.rollback(before);
  await fs.drop(before);
  expect((await fs.readdir('/a')).length).toBe(301);
  await fs.link('/a/1', '/linked');
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no error',
    (error: unknown) => error,
  );
}

describe.skipIf(!hasOwnServer)('A server with restricted access', () => {
  let server: RedisServer;
  let folder: string;
  let tlsPort: number;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scratchfs-tls-'));
    const make = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
    const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
    execFileSync('openssl', [...make, ...files], { stdio: 'ignore' });
    tlsPort = await freePort();
    server = await RedisServer.start({
      appendOnly: 'everysec',
      config: {
        'tls-port': String(tlsPort),
        'tls-cert-file': join(folder, 'cert.pem'),
        'tls-key-file': join(folder, 'key.pem'),
        'tls-ca-cert-file': join(folder, 'cert.pem'),
        'tls-auth-clients': 'no',
      },
    });
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const withStorage = async <T>(
    client: Redis,
    namespace: string,
    work: (storage: RedisStorage) => Promise<T>,
  ): Promise<T> => {
    const storage = new RedisStorage(client, { namespace, timeoutMs: 5_000 });
    try {
      return await work(storage);
    } finally {
      await storage.close();
      client.disconnect();
    }
  };

  it('over TLS supports everything, with the certificate that the client was given', async () => {
    const tls = { ca: readFileSync(join(folder, 'cert.pem')), servername: 'localhost' };
    const client = new Redis(tlsPort, '127.0.0.1', { tls, lazyConnect: true });
    await withStorage(client, freshNamespace(), useAll);
  });

  it('over TLS is refused if its certificate is not trusted', async () => {
    const client = new Redis(tlsPort, '127.0.0.1', { tls: { servername: 'localhost' }, lazyConnect: true });
    const error = await withStorage(client, freshNamespace(), (storage) => failure(useAll(storage)));
    expect(isStorageError(error, 'unavailable') && !error.retryable, String(error)).toBe(true);
  });

  it("lets a user with the README's commands and the keys of one namespace do everything there and nothing elsewhere", async () => {
    const namespace = freshNamespace();
    const readme = readFileSync(new URL('../../packages/redis/README.md', import.meta.url), 'utf8');
    const commands = /ACL SETUSER .*$/m.exec(readme)?.[0].match(/\+\w+/g);
    expect(commands).toContain('+evalsha');
    const rules = ['on', `>${PASSWORD}`, `~scratchfs:{${namespace}}:*`, ...(commands ?? [])];
    await server.control.call('ACL', 'SETUSER', 'agent', ...rules);
    const agent = () =>
      new Redis(server.port, '127.0.0.1', { username: 'agent', password: PASSWORD, lazyConnect: true });
    await withStorage(agent(), namespace, async (storage) => {
      await useAll(storage);
      expect(await storage.durability()).toMatchObject({ appendOnly: true, fsync: undefined, save: undefined });
    });
    const error = await withStorage(agent(), freshNamespace(), (storage) => failure(useAll(storage)));
    expect(isStorageError(error, 'unavailable') && !error.retryable, String(error)).toBe(true);
    expect(String(error)).not.toContain(PASSWORD);
  });

  it('reports what its persistence settings may lose', async () => {
    const { control } = server;
    const ask = () =>
      withStorage(new Redis(server.url, { lazyConnect: true }), freshNamespace(), (storage) => storage.durability());
    expect(await ask()).toMatchObject({ appendOnly: true, fsync: 'everysec', save: '', replicas: 0 });
    expect((await ask()).mayLose).toContain('about the last second');
    await control.config('SET', 'appendfsync', 'always');
    expect((await ask()).mayLose).toBe('nothing that was acknowledged');
    await control.config('SET', 'appendonly', 'no');
    expect((await ask()).mayLose).toMatch(/^everything: /);
    await control.config('SET', 'save', '60 1000');
    expect(await ask()).toMatchObject({ appendOnly: false, save: '60 1000' });
    expect((await ask()).mayLose).toMatch(/^everything since its last snapshot/);
  });
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('No port is free');
  return address.port;
}
