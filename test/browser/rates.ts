import { IndexedDbStorage } from '@scratchfs/browser';
import { type ObjectStore, objectTreeStorage } from '@scratchfs/core/object-tree';
import { MemoryObjectStore } from '@scratchfs/testkit';
import { type AsyncStorage, createFileSystem } from 'scratchfs';
import { createStorage } from 'unstorage';
import indexedDbDriver from 'unstorage/drivers/indexedb';

/** Milliseconds of one write and of one read, each waiting for the one before. */
export interface Times {
  readonly write: number;
  readonly read: number;
}

const ROUNDS = 25;
const SIZE = 4_096;
const KEYS = 20;

interface Client {
  write(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<unknown>;
  read(key: string): Promise<unknown>;
}

/** Bytes of the head, and of the object with the content and the changed directory, of a commit of this benchmark. */
const HEAD_SIZE = 700;
const OBJECT_SIZE = 6_250;

/**
 * A client of a plain database. With `swap`, a write also compares and replaces a head, with the sizes of a commit. The
 * object is a value of its own, or is part of the head.
 */
async function rawClient(name: string, swap?: 'two values' | 'one value'): Promise<Client> {
  const opening = indexedDB.open(name, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore('files');
  await new Promise((resolve) => {
    opening.onsuccess = resolve;
  });
  const db = opening.result;
  return {
    write: (key, bytes) =>
      new Promise<void>((resolve, reject) => {
        const transaction = db.transaction('files', 'readwrite', { durability: 'relaxed' });
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
        const store = transaction.objectStore('files');
        const put = (bytes: Uint8Array<ArrayBuffer>): void => {
          store.put(bytes, key);
          transaction.commit();
        };
        if (swap === undefined) return put(bytes);
        const object = new Uint8Array(OBJECT_SIZE).fill(bytes[0] ?? 0);
        store.get('head').onsuccess = () => {
          const head = { tag: key, bytes: new ArrayBuffer(HEAD_SIZE) };
          if (swap === 'two values') {
            store.put(head, 'head');
            return put(object);
          }
          store.put({ ...head, objects: [object] }, 'head');
          transaction.commit();
        };
      }),
    read: (key) =>
      new Promise((resolve, reject) => {
        const request = db.transaction('files').objectStore('files').get(key);
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      }),
  };
}

const CLIENTS: Readonly<Record<string, () => Promise<Client>>> = {
  'IndexedDB, one put': () => rawClient('raw'),
  'IndexedDB, compare and swap': () => rawClient('swap', 'two values'),
  'IndexedDB, compare and swap of one value': () => rawClient('one-value', 'one value'),
  'unstorage indexedb': async () => {
    const storage = createStorage({ driver: indexedDbDriver({ dbName: 'unstorage', storeName: 'files' }) });
    return { write: (key, bytes) => storage.setItemRaw(key, bytes), read: (key) => storage.getItemRaw(key) };
  },
  IndexedDbStorage: () => fileSystemClient(new IndexedDbStorage('rates', { database: 'rates' })),
  "IndexedDbStorage, durability 'fsync'": () =>
    fileSystemClient(new IndexedDbStorage('flushed', { database: 'rates', durability: 'fsync' })),
  // The share of the engine: the work of a commit without IndexedDB. The rows with a plain transaction after it are a
  // lower bound for a storage of this design.
  'the object tree over a store in memory': inMemory,
  'the same, then one put': () => oneAfterTheOther(inMemory(), rawClient('then-raw')),
  'the same, then compare and swap': () => oneAfterTheOther(inMemory(), rawClient('then-swap', 'two values')),
};

/** A filesystem in memory whose store commits in one step, as IndexedDB does. */
function inMemory(): Promise<Client> {
  const memory = new MemoryObjectStore();
  const store: ObjectStore = {
    get: (name, offset, length) => memory.get(name, offset, length),
    put: (name, bytes) => memory.put(name, bytes),
    delete: (names) => memory.delete(names),
    list: (prefix, cursor) => memory.list(prefix, cursor),
    readHead: (known) => memory.readHead(known),
    swapHead: (bytes, expected) => memory.swapHead(bytes, expected),
    commit: async (objects, head, expected) => {
      for (const { name, bytes } of objects) await memory.put(name, bytes);
      return memory.swapHead(head, expected);
    },
  };
  return fileSystemClient(objectTreeStorage(store));
}

async function oneAfterTheOther(...opening: readonly Promise<Client>[]): Promise<Client> {
  const clients = await Promise.all(opening);
  return {
    write: async (key, bytes) => {
      for (const client of clients) await client.write(key, bytes);
    },
    read: async (key) => {
      for (const client of clients) await client.read(key);
    },
  };
}

async function fileSystemClient(storage: AsyncStorage): Promise<Client> {
  const fs = await createFileSystem({ storage });
  return { write: (key, bytes) => fs.writeFile(`/${key}`, bytes), read: (key) => fs.readFile(`/${key}`) };
}

/** Measures writes and reads of 4 KB to twenty files, the clients in turns. Returns the medians of the rounds. */
export async function rates(operations: number): Promise<Record<string, Times>> {
  const clients: [string, Client][] = [];
  for (const [name, open] of Object.entries(CLIENTS)) clients.push([name, await open()]);
  const times = new Map(clients.map(([name]) => [name, { write: [] as number[], read: [] as number[] }]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, client] of clients)
      for (const kind of ['write', 'read'] as const) {
        const bytes = new Uint8Array(SIZE).fill(round + 1);
        const started = performance.now();
        for (let i = 0; i < operations; i++)
          await (kind === 'write' ? client.write(`f${i % KEYS}`, bytes) : client.read(`f${i % KEYS}`));
        times.get(name)?.[kind].push((performance.now() - started) / operations);
      }
  return Object.fromEntries(
    [...times].map(([name, { write, read }]) => [name, { write: median(write), read: median(read) }]),
  );
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
