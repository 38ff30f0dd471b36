import { isDeepStrictEqual } from 'node:util';
import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { RedisStorage } from '@scratchfs/redis';
import { Random } from '@scratchfs/testkit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Connection } from '../../packages/redis/src/connection/connection.js';
import type { Argument } from '../../packages/redis/src/connection/script-command.js';
import { FAST_PATH } from '../../packages/redis/src/lua/commands/fast-path.js';
import { scripts } from '../../packages/redis/src/lua/scripts.js';
import { NODES } from '../../packages/redis/src/lua/tree/nodes.js';
import { RandomStates } from '../../packages/redis/src/testing/random-states.js';
import { freshNamespace, openBackend } from './clients.js';
import { RedisServer } from './servers/redis-server.js';
import { hasOwnServer } from './servers/test-server.js';

/** The commit script without its fast path, and with its fast path alone. */
const GENERAL_PATH_ONLY = without(scripts.commit.text, FAST_PATH, '');
const FAST_PATH_ONLY = without(scripts.commit.text, NODES, "do return { 'general' } end\n");

function without(text: string, part: string, instead: string): string {
  if (!text.includes(part)) throw new Error('The script has no such part');
  return text.replace(part, () => instead);
}

type Work = (fs: FileSystem) => Promise<unknown>;

/** Preparations, a write, and whether it takes the fast path. */
const CASES: Readonly<Record<string, { before?: Work; write: Work; isFast: boolean }>> = {
  'another content': { write: (fs) => fs.writeFile('/d/a', 'longer than before'), isFast: true },
  'an append': { write: (fs) => fs.appendFile('/d/a', '!'), isFast: false },
  'the largest content of one chunk': { write: (fs) => fs.writeFile('/d/a', new Uint8Array(65_536)), isFast: true },
  'a small content in place of a large one': {
    before: (fs) => fs.writeFile('/d/a', new Uint8Array(8_192)),
    write: (fs) => fs.writeFile('/d/a', 'small'),
    isFast: true,
  },
  'a large content in place of a large one': {
    before: (fs) => fs.writeFile('/d/a', new Uint8Array(8_192)),
    write: (fs) => fs.writeFile('/d/a', new Uint8Array(9_000)),
    isFast: true,
  },
  'a small, a large and a small content at once': {
    before: (fs) => fs.writeFile('/d/a', new Uint8Array(8_192)),
    write: (fs) =>
      Promise.all(['small', new Uint8Array(9_000), 'small'].map((content) => fs.writeFile('/d/a', content))),
    isFast: true,
  },
  'a content of two chunks': { write: (fs) => fs.writeFile('/d/a', new Uint8Array(65_537)), isFast: false },
  'no content': { write: (fs) => fs.writeFile('/d/a', ''), isFast: false },
  'a content of what had none': { write: (fs) => fs.writeFile('/d/empty', 'text'), isFast: true },
  'a new file': { write: (fs) => fs.writeFile('/d/new', 'text'), isFast: true },
  'a file that must be new': { write: (fs) => fs.writeFile('/d/new', 'text', { flag: 'wx' }), isFast: true },
  'a new file in an empty directory': { write: (fs) => fs.writeFile('/e/new', 'text'), isFast: false },
  'a new file in the root': { write: (fs) => fs.writeFile('/new', 'text'), isFast: true },
  'a name of two names': { write: (fs) => fs.writeFile('/d/link', 'text'), isFast: false },
  'through a symbolic link': { write: (fs) => fs.writeFile('/s/a', 'text'), isFast: true },
  'after a checkpoint': {
    before: (fs) => fs.checkpoint('c'),
    write: (fs) => fs.writeFile('/d/a', 'text'),
    isFast: false,
  },
  'after a checkpoint, once more': {
    before: async (fs) => {
      await fs.checkpoint('c');
      await fs.writeFile('/d/a', 'text');
    },
    write: (fs) => fs.writeFile('/d/a', 'other'),
    isFast: true,
  },
  'after a copy': {
    before: (fs) => fs.cp('/d', '/copy', { recursive: true }),
    write: (fs) => fs.writeFile('/copy/a', 'text'),
    isFast: false,
  },
  'after a copy whose source is gone': {
    before: async (fs) => {
      await fs.mkdir('/source');
      await fs.writeFile('/source/a', 'text');
      await fs.cp('/source', '/copy', { recursive: true });
      await fs.rm('/source', { recursive: true });
    },
    write: (fs) => fs.writeFile('/copy/a', 'text'),
    isFast: false,
  },
};

/** Needs its own server: copies of a filesystem's keys are stored next to the originals. */
describe.skipIf(!hasOwnServer)('The fast path of a commit', () => {
  let server: RedisServer;
  /** While `waysOf` runs: for each commit so far, whether it took the fast path. Otherwise undefined. */
  let seen: boolean[] | undefined;
  const wrong: unknown[] = [];
  beforeAll(async () => {
    server = await RedisServer.start();
    const { run } = Connection.prototype;
    // Scripts run one after another: garbage that is freed concurrently would show up as a difference.
    let turn: Promise<unknown> = Promise.resolve();
    vi.spyOn(Connection.prototype, 'run').mockImplementation(function (this: Connection, script, keys, args) {
      const next = turn.then(async () => {
        const isFast = script.name === 'commit' && seen !== undefined ? await compare(keys, args) : undefined;
        const answer = await run.call(this, script, keys, args);
        // Neither path has done anything if the reply does not begin with `K`.
        if (isFast !== undefined && String(answer).startsWith('K')) seen?.push(isFast);
        return answer;
      });
      turn = next.catch(() => undefined);
      return next;
    });
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await server.stop();
  });

  /** Reports whether a commit takes the fast path, and notes differences between both paths. */
  async function compare(keys: readonly string[], args: readonly Argument[]): Promise<boolean> {
    const before = await contents(keys);
    const general = await onCopy(GENERAL_PATH_ONLY, keys, args);
    const fast = await onCopy(FAST_PATH_ONLY, keys, args);
    const isFast = String(fast.answer).startsWith('K');
    const wanted = String(fast.answer) === 'general' ? { answer: fast.answer, after: before } : general;
    if (!isDeepStrictEqual(fast, wanted)) wrong.push({ fast, wanted });
    return isFast;
  }

  /** Runs a script on copies of the keys; returns its reply and the contents of the copies afterwards. */
  async function onCopy(text: string, keys: readonly string[], args: readonly Argument[]) {
    const { control } = server;
    const copies = keys.map((key) => `${key}:copy`);
    await control.del(...copies);
    for (const [i, key] of keys.entries()) await control.copy(key, copies[i] as string);
    const answer = (await control.callBuffer('eval', text, keys.length, ...copies, ...args)) as Buffer[];
    return { answer, after: await contents(copies) };
  }

  async function contents(keys: readonly string[]): Promise<readonly unknown[]> {
    const { control } = server;
    return Promise.all(
      keys.map(async (key) => {
        const type = await control.type(key);
        if (type === 'hash') return control.hgetallBuffer(key);
        if (type === 'list') return control.lrangeBuffer(key, 0, -1);
        return type === 'stream' ? control.xrange(key, '-', '+') : type;
      }),
    );
  }

  /** Runs work and returns for each commit whether it took the fast path. Both paths must leave the same bytes. */
  async function waysOf(work: () => Promise<unknown>): Promise<readonly boolean[]> {
    const ways: boolean[] = [];
    seen = ways;
    await work();
    seen = undefined;
    expect(wrong.splice(0)).toEqual([]);
    return ways;
  }

  const open = (namespace = freshNamespace()): Promise<FileSystem> =>
    openFileSystem(new RedisStorage(server.url, { namespace }), {
      limits: { maxTotalSize: 200_000 },
    });

  for (const [title, { before, write, isFast }] of Object.entries(CASES))
    it(`${title}: ${isFast ? 'fast path' : 'general path'}`, async () => {
      await using fs = await open();
      await fs.mkdir('/e');
      await fs.mkdir('/d');
      for (let i = 0; i < 30; i++) await fs.writeFile(`/d/f${i}`, String(i));
      await fs.writeFile('/d/a', 'text');
      await fs.writeFile('/d/empty', '');
      await fs.writeFile('/d/two', 'names');
      await fs.link('/d/two', '/d/link');
      await fs.symlink('/d', '/s');
      await before?.(fs);
      expect(new Set(await waysOf(() => write(fs)))).toEqual(new Set([isFast]));
    });

  it('a write that exceeds a limit is refused on the general path', async () => {
    const namespace = freshNamespace();
    await using fs = await open(namespace);
    await fs.mkdir('/d');
    await fs.writeFile('/d/a', '');
    await using other = await open(namespace);
    await other.writeFile('/elsewhere', new Uint8Array(150_000));
    const write = (size: number): Promise<void> => fs.writeFile('/d/a', new Uint8Array(size));
    expect(
      await waysOf(async () => {
        await expect(write(60_000)).rejects.toMatchObject({ code: 'ENOSPC' });
        await write(40_000);
      }),
    ).toEqual([false, true]);
  });

  it('touching a directory, without other writes, takes the general path', async () => {
    const namespace = freshNamespace();
    await using fs = await open(namespace);
    await fs.mkdir('/d');
    await fs.writeFile('/d/a', '');
    const backend = openBackend({ url: server.url, namespace });
    const touch = {
      operationId: 't',
      checks: [],
      writes: [{ kind: 'touch', path: '/d', time: 5 }],
      limits: { maxTotalSize: 200_000 },
    } as const;
    expect(await waysOf(() => backend.commit(touch))).toEqual([false]);
    await backend.close();
    expect((await fs.stat('/d')).mtimeMs).toBe(5);
  });

  for (const seed of [1, 2, 3, 4])
    it(`small writes to random states give the same result on both paths (seed ${seed})`, async () => {
      const random = new Random(seed);
      const states = new RandomStates(seed);
      let fs = await open();
      await fs.mkdir('/a/b', { recursive: true });
      const ways = await waysOf(async () => {
        for (let i = 0; i < 150; i++) {
          const directory = random.pick(['/', '/a', '/a/b', '/copy', '/many']);
          const names = Array.from({ length: 1 + random.below(6) }, () => `n${random.below(40)}`);
          const write = async (fs: FileSystem): Promise<FileSystem> => {
            await fs.mkdir(directory, { recursive: true });
            // Writes of one turn of the event loop share a request.
            await Promise.all(names.map((name) => fs.writeFile(`${directory}/${name}`, 'x'.repeat(random.below(300)))));
            return fs;
          };
          const step = random.chance(0.15) ? states.next().step : write;
          fs = await step(fs).catch((error) => {
            expect(error.code, String(error)).toMatch(/^E/);
            return fs;
          });
        }
      });
      await fs.close();
      expect(ways.filter((isFast) => isFast).length).toBeGreaterThan(10);
      expect(ways.filter((isFast) => !isFast).length).toBeGreaterThan(10);
    });
});
