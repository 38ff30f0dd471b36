import { openFileSystem } from '@scratchfs/core';
import { RedisStorage } from '@scratchfs/redis';
import { Redis } from 'ioredis';
import { createStorage } from 'unstorage';
import redisDriver from 'unstorage/drivers/redis';

/** A client that stores bytes under keys on a Redis server. */
export interface Contender {
  write(key: number, bytes: Buffer): Promise<unknown>;
  read(key: number): Promise<unknown>;
  close(): Promise<unknown> | unknown;
}

/** Commands that ioredis adds for the scripts it is given. */
interface Scripts {
  luaSet(key: string, value: Buffer): Promise<unknown>;
  luaGetBuffer(key: string): Promise<Buffer | null>;
}

/** Prefix common to all Redis keys of a run. */
const NAMESPACE = 'bench';

/**
 * Returns a contender that sends plain commands. With auto-pipelining ioredis sends all commands of one turn of the
 * event loop as one pipeline.
 */
const raw =
  (enableAutoPipelining: boolean) =>
  async (url: string): Promise<Contender> => {
    const client = new Redis(url, { enableAutoPipelining });
    return {
      write: (key, bytes) => client.set(`${NAMESPACE}:${key}`, bytes),
      read: (key) => client.getBuffer(`${NAMESPACE}:${key}`),
      close: () => client.disconnect(),
    };
  };

const byLua =
  (enableAutoPipelining: boolean) =>
  async (url: string): Promise<Contender> => {
    const client = new Redis(url, {
      enableAutoPipelining,
      scripts: {
        luaSet: { numberOfKeys: 1, lua: "return redis.call('SET', KEYS[1], ARGV[1])" },
        luaGet: { numberOfKeys: 1, lua: "return redis.call('GET', KEYS[1])", readOnly: true },
      },
    }) as Redis & Scripts;
    return {
      write: (key, bytes) => client.luaSet(`${NAMESPACE}:${key}`, bytes),
      read: (key) => client.luaGetBuffer(`${NAMESPACE}:${key}`),
      close: () => client.disconnect(),
    };
  };

/** Contenders by their name in the table. */
export const CONTENDERS: Readonly<Record<string, (url: string) => Promise<Contender>>> = {
  'SET, GET': raw(false),
  'SET, GET, gathered': raw(true),
  'SET, GET by Lua': byLua(false),
  'by Lua, gathered': byLua(true),
  unstorage: async (url) => {
    const storage = createStorage({ driver: redisDriver({ url, base: NAMESPACE }) });
    return {
      write: (key, bytes) => storage.setItemRaw(String(key), bytes),
      read: (key) => storage.getItemRaw(String(key)),
      close: () => storage.dispose(),
    };
  },
  scratchfs: async (url) => {
    const storage = new RedisStorage(url, { namespace: NAMESPACE });
    const fs = await openFileSystem(storage);
    await fs.mkdir('/files', { recursive: true });
    return {
      write: (key, bytes) => fs.writeFile(`/files/${key}`, bytes),
      read: (key) => fs.readFile(`/files/${key}`),
      close: () => storage.close(),
    };
  },
};

/** Rows of the comparison: a title, and the contenders that the others are compared with. */
export const BASELINES = [
  ['SET, GET', ['SET, GET', 'SET, GET, gathered']],
  ['Lua', ['SET, GET by Lua', 'by Lua, gathered']],
] as const;
