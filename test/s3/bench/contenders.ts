import {
  CopyObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { openFileSystem } from '@scratchfs/core';
import { createSnapshot } from '@scratchfs/core/snapshot';
import { S3Storage } from '@scratchfs/s3';
import { createStorage, type Storage } from 'unstorage';
import s3Driver from 'unstorage/drivers/s3';
import { clientOf, type Place, urlOf } from '../servers/test-bucket.js';
import { signBodies } from './sign-bodies.js';

/** A client that keeps a tree of texts in a bucket. Paths have no leading slash. */
export interface Contender {
  /** Creates all files, concurrently if the contender can. */
  plant(files: ReadonlyMap<string, string>): Promise<unknown>;
  write(path: string, text: string): Promise<unknown>;
  /** Writes several files, concurrently if the contender can. */
  writeMany(files: ReadonlyMap<string, string>): Promise<unknown>;
  read(path: string): Promise<unknown>;
  stat(path: string): Promise<unknown>;
  /** Reads everything, contents included. */
  load(): Promise<unknown>;
  rename(from: string, to: string): Promise<unknown>;
  copy(from: string, to: string): Promise<unknown>;
  remove(folder: string): Promise<unknown>;
  /** Saves a state that can be restored. */
  checkpoint(): Promise<unknown>;
  close(): Promise<unknown>;
}

const AT_ONCE = 8;

/** Contenders by their name in the table. Each call opens a client with an empty cache. */
export const CONTENDERS: Readonly<Record<string, (place: Place) => Promise<Contender>>> = {
  S3Storage: async (place) => {
    const storage = new S3Storage(urlOf(place));
    const fs = await openFileSystem(storage);
    const writeMany = (files: ReadonlyMap<string, string>): Promise<unknown> =>
      fs.transaction(async (tx) => {
        for (const [path, text] of files) {
          await tx.mkdir(`/${path}/..`, { recursive: true });
          await tx.writeFile(`/${path}`, text);
        }
      });
    return {
      plant: writeMany,
      writeMany,
      write: (path, text) => fs.writeFile(`/${path}`, text),
      read: (path) => fs.readText(`/${path}`),
      stat: (path) => fs.stat(`/${path}`),
      load: () => createSnapshot(fs),
      rename: (from, to) => fs.rename(`/${from}`, `/${to}`),
      copy: (from, to) => fs.cp(`/${from}`, `/${to}`, { recursive: true }),
      remove: (folder) => fs.rm(`/${folder}`, { recursive: true }),
      checkpoint: () => fs.checkpoint(),
      close: () => storage.close(),
    };
  },

  'one object per file': async (place) => {
    const client = clientOf(place);
    const { bucket: Bucket, prefix } = place;
    const key = (path: string): string => `${prefix}/${path}`;
    const list = async (folder: string): Promise<string[]> => {
      const keys: string[] = [];
      for (let StartAfter: string | undefined; ; ) {
        const { Contents = [], IsTruncated } = await client.send(
          new ListObjectsV2Command({
            Bucket,
            Prefix: key(folder),
            ...(StartAfter === undefined ? {} : { StartAfter }),
          }),
        );
        keys.push(...Contents.map(({ Key = '' }) => Key));
        if (IsTruncated !== true) return keys;
        StartAfter = keys.at(-1);
      }
    };
    const write = (path: string, text: string): Promise<unknown> =>
      client.send(new PutObjectCommand({ Bucket, Key: key(path), Body: text }));
    const writeMany = (files: ReadonlyMap<string, string>): Promise<unknown> =>
      each([...files], ([path, text]) => write(path, text));
    const read = async (Key: string): Promise<unknown> =>
      (await client.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();
    const copyAll = (keys: readonly string[], from: string, to: string): Promise<unknown> =>
      each(keys, (one) =>
        client.send(
          new CopyObjectCommand({ Bucket, CopySource: `${Bucket}/${one}`, Key: key(to) + one.slice(key(from).length) }),
        ),
      );
    const removeAll = async (keys: readonly string[]): Promise<void> => {
      for (let at = 0; at < keys.length; at += 1_000) {
        const Objects = keys.slice(at, at + 1_000).map((Key) => ({ Key }));
        await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
      }
    };
    return {
      plant: writeMany,
      writeMany,
      write,
      read: (path) => read(key(path)),
      stat: (path) => client.send(new HeadObjectCommand({ Bucket, Key: key(path) })),
      load: async () => each(await list('src/'), read),
      rename: async (from, to) => {
        const keys = await list(`${from}/`);
        await copyAll(keys, from, to);
        await removeAll(keys);
      },
      copy: async (from, to) => copyAll(await list(`${from}/`), from, to),
      remove: async (folder) => removeAll(await list(`${folder}/`)),
      checkpoint: async () => copyAll(await list('src/'), '', 'checkpoint/'),
      close: async () => client.destroy(),
    };
  },

  "unstorage's s3 driver": async ({ bucket, endpoint = '', region }) => {
    const restore = signBodies(region);
    const storage: Storage = createStorage({
      driver: s3Driver({
        accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? '',
        secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? '',
        endpoint,
        bucket,
        region,
      }),
    });
    // The driver lists the whole bucket, at most 1,000 keys, so each run has its own bucket.
    const key = (path: string): string => path.replaceAll('/', ':');
    const under = (folder: string): Promise<string[]> => storage.getKeys(key(folder));
    const write = (path: string, text: string): Promise<unknown> => storage.setItemRaw(key(path), text);
    const writeMany = (files: ReadonlyMap<string, string>): Promise<unknown> =>
      each([...files], ([path, text]) => write(path, text));
    const copy = async (from: string, to: string): Promise<unknown> =>
      each(await under(from), async (one) =>
        storage.setItemRaw(key(to) + one.slice(key(from).length), await storage.getItemRaw(one)),
      );
    const remove = async (folder: string): Promise<unknown> =>
      each(await under(folder), (one) => storage.removeItem(one));
    return {
      plant: writeMany,
      writeMany,
      write,
      read: (path) => storage.getItemRaw(key(path)),
      stat: async (path) => storage.getMeta(key(path), { nativeOnly: true }),
      load: async () => each(await under('src'), (one) => storage.getItemRaw(one)),
      rename: async (from, to) => {
        await copy(from, to);
        await remove(from);
      },
      copy,
      remove,
      checkpoint: () => copy('src', 'checkpoint/src'),
      close: async () => {
        await storage.dispose();
        restore();
      },
    };
  },
};

async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
