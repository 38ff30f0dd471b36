import { openFileSystem } from '@scratchfs/core';
import { RedisStorage } from '@scratchfs/redis';
import { Redis } from 'ioredis';
import { createStorage } from 'unstorage';
import redisDriver from 'unstorage/drivers/redis';

/** Something that keeps bytes under keys on a Redis server. */
export interface Contender {
  write(key: number, bytes: Buffer): Promise<unknown>;
  read(key: number): Promise<unknown>;
  close(): Promise<unknown> | unknown;
}

/** What ioredis makes of the scripts that it is given. */
interface Scripts {
  luaSet(key: string, value: Buffer): Promise<unknown>;
  luaGetBuffer(key: string): Promise<Buffer | null>;
}

/** The directory or the prefix that all keys of a run have in common. */
const NAMESPACE = 'bench';

/** Commands as they are, or those of a turn of the event loop gathered into one pipeline: ioredis can do either. */
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

/** By the name that stands in the table. */
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

/** Contenders that the others are compared with. */
export const BASELINES = [
  ['SET, GET', ['SET, GET', 'SET, GET, gathered']],
  ['Lua', ['SET, GET by Lua', 'by Lua, gathered']],
] as const;
