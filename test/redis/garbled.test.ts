import { isFsError, isStorageError, openFileSystem } from '@scratchfs/core';
import { RedisStorage } from '@scratchfs/redis';
import { Random } from '@scratchfs/testkit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Connection } from '../../packages/redis/src/connection/connection.js';
import { freshNamespace } from './clients.js';
import { useServer } from './faults/test-fixtures.js';
import { TcpProxy } from './proxy/tcp-proxy.js';
import { hasOwnServer } from './servers/test-server.js';

const ROUNDS = 80;
const KINDS = ['K', 'E', 'F', 'N', 'V', 'T', 'P', 'gone', 'content', 'K\n5\n0 1 -\no 5', 'o 7', 'c 9', '', '7', 'NaN'];

/** Returns a reply of any form. */
function anyReply(random: Random, depth = 0): unknown {
  const kind = random.below(depth > 2 ? 6 : 8);
  if (kind < 3) return Buffer.from(random.pick(KINDS));
  if (kind === 3) return Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)));
  if (kind === 4) return random.below(1_000);
  if (kind === 5) return random.chance(0.5) ? null : Buffer.from('D'.padEnd(186, '\x40'));
  const items = Array.from({ length: random.below(7) }, () => anyReply(random, depth + 1));
  return depth === 0 ? [Buffer.from('K'), Buffer.from('5'), Buffer.alloc(40), ...items] : items;
}

/** Returns a reply with one part of it replaced, changed, or cut. */
function changed(reply: unknown, random: Random): unknown {
  if (random.chance(0.15)) return anyReply(random, 1);
  if (Array.isArray(reply) && reply.length > 0) {
    const at = random.below(reply.length);
    if (random.chance(0.1)) return reply.slice(0, at);
    return reply.map((part, i) => (i === at ? changed(part, random) : part));
  }
  if (!Buffer.isBuffer(reply) || reply.length === 0) return anyReply(random, 1);
  if (random.chance(0.2)) return reply.subarray(0, random.below(reply.length));
  const bytes = Buffer.from(reply);
  bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}

describe.skipIf(!hasOwnServer)('A garbled reply of the server', () => {
  const on = useServer();
  let garble: ((reply: unknown) => unknown) | undefined;
  beforeAll(() => {
    const { run } = Connection.prototype;
    vi.spyOn(Connection.prototype, 'run').mockImplementation(async function (this: Connection, ...args) {
      const reply = await run.apply(this, args);
      return (garble === undefined ? reply : garble(reply)) as typeof reply;
    });
  });
  afterAll(() => {
    vi.restoreAllMocks();
  });

  it.each([
    ['of any form', (random: Random) => () => anyReply(random)],
    ['with a changed part', (random: Random) => (reply: unknown) => changed(reply, random)],
  ])(
    '%s is a StorageError, never another',
    async (_, make) => {
      const random = new Random(7);
      const namespace = freshNamespace();
      const open = () => new RedisStorage(on.server.url, { namespace, retries: 0, timeoutMs: 5_000 });
      let storage = open();
      const found = new Map<string, number>();
      for (let i = 0; i < ROUNDS; i++) {
        garble = undefined;
        const fs = await openFileSystem(storage);
        if (i === 0) {
          await fs.mkdir('/d');
          await fs.symlink('/f', '/s');
          await fs.writeFile('/f', 'text');
          await fs.link('/f', '/l');
          for (let k = 0; k < 20; k++) await fs.writeFile(`/d/${k}`, 'x');
          await fs.checkpoint('c');
        }
        if (random.chance(0.5)) await fs.readFile('/f');
        garble = make(random);
        const work = random.pick([
          () => fs.readFile('/f'),
          () => fs.readFile('/l'),
          () => fs.readlink('/s'),
          () => fs.entries('/d'),
          () => storage.paths(),
          () => fs.writeFile('/d/1', 'y'),
          () => fs.writeFile('/new', 'y'),
          () => fs.rm('/new', { force: true }),
          () => fs.cp('/d', '/e', { recursive: true, force: true }),
          () => fs.checkpoints(),
          () => fs.checkpoint(),
          () => fs.rollback('c'),
          () => fs.fork(),
          () => fs.stats(),
          () => fs.transaction(async (inside) => inside.writeFile('/t', await inside.readFile('/f'))),
        ]);
        try {
          await work();
          found.set('ok', (found.get('ok') ?? 0) + 1);
        } catch (error) {
          const isExpected = isStorageError(error) || isFsError(error);
          expect(isExpected, `${work}: ${(error as Error).stack}`).toBe(true);
          const kind = isStorageError(error) ? error.kind : 'fs';
          found.set(kind, (found.get(kind) ?? 0) + 1);
        }
        garble = undefined;
        // A reply may say that the filesystem is gone, which a client believes for ever.
        await storage.close();
        storage = open();
      }
      await storage.close();
      expect(found.get('corrupt')).toBeGreaterThan(ROUNDS / 5);
    },
    300_000,
  );

  it('that is no Redis protocol is an error of kind corrupt', async () => {
    const proxy = await TcpProxy.open(on.server.port);
    const storage = new RedisStorage(`redis://127.0.0.1:${proxy.port}`, { namespace: freshNamespace(), retries: 0 });
    try {
      const fs = await openFileSystem(storage);
      await fs.writeFile('/f', 'text');
      proxy.plan = ({ name }) => (name.startsWith('EVAL') ? { reply: 'HTTP/1.1 400 Bad Request\r\n\r\n' } : 'none');
      const error = await fs.readFile('/f').catch((failure: unknown) => failure);
      expect(isStorageError(error, 'corrupt'), String((error as Error).cause)).toBe(true);
    } finally {
      await storage.close();
      await proxy.close();
    }
  });
});
