import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { createSnapshot, restoreSnapshot } from '@scratchfs/core/snapshot';
import { asyncMemoryStorage } from '@scratchfs/memory';
import { RedisStorage } from '@scratchfs/redis';
import { differences, dump } from '@scratchfs/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keysOf } from '../../packages/redis/src/connection/keys.js';
import { checkLayout } from '../../packages/redis/src/testing/layout-check.js';
import { RandomStates } from '../../packages/redis/src/testing/random-states.js';
import type { RedisLocation } from './clients.js';
import { hasServer, TestServer } from './servers/test-server.js';

const STEPS = 150;

describe.skipIf(!hasServer)('layout', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.open();
  });
  afterAll(() => server.close());

  const open = ({ url, namespace }: RedisLocation, clock?: () => number): Promise<FileSystem> =>
    openFileSystem(new RedisStorage(url, { namespace, clock }), { clock });
  const wrong = ({ namespace }: RedisLocation): Promise<string[]> =>
    checkLayout(server.control, keysOf('scratchfs:', namespace));

  for (const seed of [1, 2, 3]) {
    it(`states, copies, forks and contents equal those in memory, and all references are counted (seed ${seed})`, async () => {
      const place = server.place();
      let time = 1_000;
      const clock = (): number => time;
      let redis = await open(place, clock);
      let memory: FileSystem = await openFileSystem(asyncMemoryStorage({ clock }), { clock });
      const states = new RandomStates(seed);
      const trace: string[] = [];
      for (let i = 1; i <= STEPS; i++) {
        time += 1;
        const { title, step } = states.next();
        trace.push(title);
        const [a, b] = [await outcome(redis, step), await outcome(memory, step)];
        [redis, memory] = [a.next, b.next];
        expect(a.answer, trace.slice(-10).join('\n')).toBe(b.answer);
        if (i % 30 > 0) continue;
        expect(differences(await dump(memory), await dump(redis)), trace.slice(-30).join('\n')).toEqual([]);
        expect(await wrong(place), trace.slice(-30).join('\n')).toEqual([]);
      }
      await redis.close();
      await memory.close();
    });
  }

  it('a fork can be forked, twenty levels deep, and each fork can be written', async () => {
    const place = server.place();
    const all = [await open(place)];
    for (let i = 0; i < 20; i++) {
      const fork = await (all.at(-1) as FileSystem).fork();
      await fork.writeFile(`/${i}`, 'x');
      all.push(fork);
    }
    expect(await (all.at(-1) as FileSystem).readdir('/')).toHaveLength(20);
    for (const fs of all.reverse()) await fs.close();
    expect(await wrong(place)).toEqual([]);
  });

  it('large contents are written in parts, and an edit rewrites only the changed parts', async () => {
    const place = server.place();
    const fs = await open(place);
    let content = bytes(3_000_001, 1);
    await fs.writeFile('/a', content);
    const before = await fs.checkpoint();
    for (const [at, length] of [
      [100_000, 1_000_000],
      [65_536, 1_500_000],
      [0, 300_000],
      [9_000_000, 700_001],
      [1, 12_000_000],
    ] as const) {
      const part = bytes(length, at);
      await using handle = await fs.open('/a', 'r+');
      await handle.write(part, at);
      const next = new Uint8Array(Math.max(content.length, at + length));
      next.set(content);
      next.set(part, at);
      content = next;
      expect(Buffer.compare((await fs.readFile('/a')) as Uint8Array, content), `${length} bytes at ${at}`).toBe(0);
      expect(await wrong(place)).toEqual([]);
    }
    await fs.rollback(before);
    expect(Buffer.compare((await fs.readFile('/a')) as Uint8Array, bytes(3_000_001, 1))).toBe(0);
    await fs.close();
  });

  it('a commit of thousands of writes is atomic, and loses no write of another client', async () => {
    const place = server.place();
    const [fs, other] = [await open(place), await open(place)];
    let goesOn = true;
    let written = 0;
    const neighbour = (async () => {
      while (goesOn) {
        await other.writeFile(`/beside-${written}`, 'x');
        written += 1;
      }
    })();
    await fs.transaction(async (inside) => {
      for (let i = 0; i < 20; i++) await inside.mkdir(`/big/d${i}`, { recursive: true });
      for (let i = 0; i < 1_000; i++) await inside.writeFile(`/big/d${i % 20}/f${i}`, `text ${i}`);
    });
    goesOn = false;
    await neighbour;
    expect((await fs.stats()).fileCount).toBe(1_000 + written);
    const snapshot = await createSnapshot(fs);
    const state = await dump(fs);
    await fs.rm('/big', { recursive: true });
    await restoreSnapshot(other, snapshot);
    expect(differences(await dump(fs), state)).toEqual([]);
    expect(await wrong(place)).toEqual([]);
    await Promise.all([fs.close(), other.close()]);
  });
});

async function outcome(
  fs: FileSystem,
  step: (fs: FileSystem) => Promise<FileSystem>,
): Promise<{ readonly next: FileSystem; readonly answer: string }> {
  try {
    return { next: await step(fs), answer: 'ok' };
  } catch (error) {
    return { next: fs, answer: String((error as { code?: string }).code ?? error) };
  }
}

function bytes(length: number, seed: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 31 + seed + (i >> 16)) & 255);
}
