import { IndexedDbStorage } from '@scratchfs/browser';
import { objectTreeStorage } from '@scratchfs/core/object-tree';
import { MemoryObjectStore } from '@scratchfs/testkit';
import { type AsyncStorage, createFileSystem } from 'scratchfs';
import { createStorage } from 'unstorage';
import indexedDbDriver from 'unstorage/drivers/indexedb';

/** Milliseconds of one write and of one read, each waiting for the one before. */
export interface Times {
  readonly write: number;
  readonly read: number;
}

const ROUNDS = 5;
const SIZE = 4_096;
const KEYS = 20;

interface Client {
  write(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<unknown>;
  read(key: string): Promise<unknown>;
}

/** Bytes of a head of a small filesystem. */
const HEAD_SIZE = 1_500;

/**
 * A client of a plain database. With `swap`, a write also compares and replaces a head, as a commit does: a second value,
 * or, to compare, one that has the bytes of the file in it.
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
        const put = (): void => {
          store.put(bytes, key);
          transaction.commit();
        };
        if (swap === undefined) return put();
        store.get('head').onsuccess = () => {
          const head = { tag: key, bytes: new ArrayBuffer(HEAD_SIZE) };
          if (swap === 'two values') {
            store.put(head, 'head');
            return put();
          }
          store.put({ ...head, objects: [bytes] }, 'head');
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
  // The share of the engine: everything that a commit does, without IndexedDB.
  'the object tree over a store in memory': () => fileSystemClient(objectTreeStorage(new MemoryObjectStore())),
};

async function fileSystemClient(storage: AsyncStorage): Promise<Client> {
  const fs = await createFileSystem({ storage });
  return { write: (key, bytes) => fs.writeFile(`/${key}`, bytes), read: (key) => fs.readFile(`/${key}`) };
}

/** Measures writes and reads of 4 KB to twenty files, the clients in turns. Returns the least times of the rounds. */
export async function rates(operations: number): Promise<Record<string, Times>> {
  const clients: [string, Client][] = [];
  for (const [name, open] of Object.entries(CLIENTS)) clients.push([name, await open()]);
  const least: Record<string, Times> = {};
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, client] of clients) {
      const times = { write: 0, read: 0 };
      for (const kind of ['write', 'read'] as const) {
        const bytes = new Uint8Array(SIZE).fill(round + 1);
        const started = performance.now();
        for (let i = 0; i < operations; i++)
          await (kind === 'write' ? client.write(`f${i % KEYS}`, bytes) : client.read(`f${i % KEYS}`));
        times[kind] = (performance.now() - started) / operations;
      }
      const { write, read } = least[name] ?? times;
      least[name] = { write: Math.min(write, times.write), read: Math.min(read, times.read) };
    }
  return least;
}
