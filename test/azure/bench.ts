import { text } from 'node:stream/consumers';
import { ContainerClient } from '@azure/storage-blob';
import { AzureBlobStorage } from '@scratchfs/azure';
import { openFileSystem } from '@scratchfs/core';
import { createSnapshot } from '@scratchfs/core/snapshot';
import { createStorage } from 'unstorage';
import azureDriver from 'unstorage/drivers/azure-storage-blob';
import { HttpProxy, type Seen } from '../s3/proxy/http-proxy.js';
import { AzuriteServer, connectionString } from './azurite-server.js';

/**
 * `npm run bench -- azure`: requests of typical jobs, counted at a proxy, beside one blob per file and unstorage. The
 * counts do not depend on the machine; the milliseconds are those of the emulator.
 */
interface Contender {
  writeMany(files: ReadonlyMap<string, string>): Promise<unknown>;
  write(path: string, text: string): Promise<unknown>;
  read(path: string): Promise<unknown>;
  stat(path: string): Promise<unknown>;
  rename(from: string, to: string): Promise<unknown>;
  load(): Promise<unknown>;
  checkpoint(): Promise<unknown>;
  close(): Promise<unknown>;
}

const AT_ONCE = 8;
const FILE = 'src/part-3/file-7.txt';

const CONTENDERS: Readonly<Record<string, (container: ContainerClient, connection: string) => Promise<Contender>>> = {
  AzureBlobStorage: async (container) => {
    const storage = new AzureBlobStorage(container);
    const fs = await openFileSystem(storage);
    return {
      writeMany: (files) =>
        fs.transaction(async (tx) => {
          for (const [path, text] of files) {
            await tx.mkdir(`/${path}/..`, { recursive: true });
            await tx.writeFile(`/${path}`, text);
          }
        }),
      write: (path, text) => fs.writeFile(`/${path}`, text),
      read: (path) => fs.readText(`/${path}`),
      stat: (path) => fs.stat(`/${path}`),
      rename: (from, to) => fs.rename(`/${from}`, `/${to}`),
      load: () => createSnapshot(fs),
      checkpoint: () => fs.checkpoint(),
      close: () => storage.close(),
    };
  },
  'one blob per file': async (container) => {
    const list = async (prefix: string): Promise<string[]> => {
      const names: string[] = [];
      for await (const { name } of container.listBlobsFlat({ prefix })) names.push(name);
      return names;
    };
    const write = (path: string, content: string) =>
      container.getBlockBlobClient(path).upload(content, Buffer.byteLength(content));
    const copy = (names: readonly string[], from: string, to: string) =>
      each(names, (name) => {
        const source = container.getBlobClient(name).url;
        return container.getBlobClient(to + name.slice(from.length)).syncCopyFromURL(source);
      });
    // downloadToBuffer() would first ask for the size.
    const read = async (path: string): Promise<string> => {
      const { readableStreamBody } = await container.getBlobClient(path).download();
      return readableStreamBody === undefined ? '' : text(readableStreamBody);
    };
    return {
      writeMany: (files) => each([...files], ([path, text]) => write(path, text)),
      write,
      read,
      stat: (path) => container.getBlobClient(path).getProperties(),
      rename: async (from, to) => {
        const names = await list(`${from}/`);
        await copy(names, from, to);
        await each(names, (name) => container.getBlobClient(name).delete());
      },
      load: async () => each(await list('src/'), read),
      checkpoint: async () => copy(await list('src/'), '', 'checkpoint/'),
      close: async () => undefined,
    };
  },
  "unstorage's azure-storage-blob driver": async ({ containerName }, connection) => {
    const driver = azureDriver({ accountName: 'devstoreaccount1', connectionString: connection, containerName });
    const storage = createStorage({ driver });
    const key = (path: string): string => path.replaceAll('/', ':');
    const write = (path: string, text: string) => storage.setItem(key(path), text);
    const copy = async (from: string, to: string): Promise<string[]> => {
      const keys = await storage.getKeys(key(from));
      await each(keys, async (one) =>
        storage.setItem(key(to) + one.slice(key(from).length), String(await storage.getItem(one))),
      );
      return keys;
    };
    return {
      writeMany: (files) => each([...files], ([path, text]) => write(path, text)),
      write,
      read: (path) => storage.getItem(key(path)),
      stat: async (path) => storage.getMeta(key(path), { nativeOnly: true }),
      rename: async (from, to) => each(await copy(from, to), (one) => storage.removeItem(one)),
      load: async () => each(await storage.getKeys('src'), (one) => storage.getItem(one)),
      checkpoint: () => copy('src', 'checkpoint/src'),
      close: () => storage.dispose(),
    };
  },
};

const JOBS: Readonly<Record<string, (contender: Contender) => Promise<unknown>>> = {
  'make a tree of 500 files': (c) => c.writeMany(files(500)),
  'read a file, known already': (c) => c.read(FILE),
  'stat a file, known already': (c) => c.stat(FILE),
  'overwrite a small file': (c) => c.write(FILE, 'other'),
  'change 100 files at once': (c) => c.writeMany(files(100)),
  'rename a folder of 50': (c) => c.rename('src/part-1', 'src/moved'),
};
/** Jobs of a client with an empty cache. */
const FRESH: typeof JOBS = {
  'open and load all 500 files': (c) => c.load(),
  'keep a checkpoint of all': (c) => c.checkpoint(),
};

function files(count: number): ReadonlyMap<string, string> {
  const texts = Array.from({ length: count }, (_, i) => `line of file ${i} of ${count}\n`.repeat(50));
  return new Map(texts.map((text, i) => [`src/part-${i % 10}/file-${Math.floor(i / 10)}.txt`, text]));
}

async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Returns writes with listings, which cost the same, reads, and deletions, which are free. */
function costOf(seen: readonly Seen[]): string {
  const deletes = seen.filter(({ method }) => method === 'DELETE').length;
  const writes = seen.filter(({ method, url }) => method === 'PUT' || url.includes('comp=list')).length;
  return `${writes} + ${seen.length - writes - deletes}${deletes > 0 ? ` + ${deletes} free` : ''}`;
}

const server = await AzuriteServer.start('--inMemoryPersistence');
const proxy = await HttpProxy.start(server.endpoint);
const table = new Map<string, string[]>();
try {
  for (const [index, open] of Object.values(CONTENDERS).entries()) {
    const { containerName } = await server.createContainer(`bench-${index}`);
    const connection = connectionString(proxy.endpoint);
    const container = new ContainerClient(connection, containerName);
    const measure = async (jobs: typeof JOBS): Promise<void> => {
      const contender = await open(container, connection);
      for (const [job, work] of Object.entries(jobs)) {
        // The files are in the cache: a client's second read.
        if (job.endsWith('known already')) await work(contender);
        proxy.forget();
        const start = performance.now();
        await work(contender);
        const ms = performance.now() - start;
        table.set(job, [...(table.get(job) ?? []), `${costOf(proxy.seen)} (${ms.toFixed(0)} ms)`]);
      }
      await contender.close();
    };
    await measure(JOBS);
    await measure(FRESH);
  }
} finally {
  await proxy.stop();
  await server.stop();
}
console.log('Requests that write or list + requests that read; in brackets milliseconds with the emulator.\n');
console.log(`| | ${Object.keys(CONTENDERS).join(' | ')} |\n|---|---|---|---|`);
for (const [job, cells] of table) console.log(`| ${job} | ${cells.join(' | ')} |`);
