import { IndexedDbStorage } from '@scratchfs/browser';
import { createFileSystem } from 'scratchfs';

/** Milliseconds to write a new content, to read all of it, and to read 64 KiB in its middle. */
export interface ContentTimes {
  readonly write: number;
  readonly read: number;
  readonly range: number;
}

interface ContentStore {
  write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  read(name: string, offset: number, length: number): Promise<Uint8Array>;
}

const MIB = 2 ** 20;
const RANGE = 65_536;
/** Part size that no content exceeds. */
const WHOLE = 2 ** 40;

/** Opens a database whose contents are cut into values of at most `partBytes`, each of the kind that `wrap` makes. */
async function indexedDbStore(
  name: string,
  partBytes: number,
  wrap: (bytes: Uint8Array<ArrayBuffer>) => ArrayBuffer | Blob,
): Promise<ContentStore> {
  const opening = indexedDB.open(name, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore('contents');
  await new Promise((resolve) => {
    opening.onsuccess = resolve;
  });
  const db = opening.result;
  return {
    write: (key, bytes) =>
      new Promise((resolve, reject) => {
        const transaction = db.transaction('contents', 'readwrite', { durability: 'relaxed' });
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
        const store = transaction.objectStore('contents');
        for (let at = 0; at < bytes.length; at += partBytes)
          store.put(wrap(bytes.slice(at, at + partBytes)), `${key}.${at / partBytes}`);
        transaction.commit();
      }),
    read: async (key, offset, length) => {
      const store = db.transaction('contents').objectStore('contents');
      const parts: Promise<ArrayBuffer | Blob>[] = [];
      for (let part = Math.floor(offset / partBytes); part * partBytes < offset + length; part++)
        parts.push(
          new Promise((resolve) => {
            const request = store.get(`${key}.${part}`);
            request.onsuccess = () => resolve(request.result);
          }),
        );
      const first = Math.floor(offset / partBytes) * partBytes;
      const result = new Uint8Array(length);
      let at = first;
      for (const value of await Promise.all(parts)) {
        const [from, to] = [Math.max(0, offset - at), offset + length - at];
        const size = value instanceof Blob ? value.size : value.byteLength;
        const cut = value.slice(from, Math.min(size, to));
        const bytes = new Uint8Array(cut instanceof Blob ? await cut.arrayBuffer() : cut);
        result.set(bytes, Math.max(0, at - offset));
        at += size;
      }
      return result;
    },
  };
}

/** The part of a worker's file handle that TypeScript's library of pages does not have. */
interface WorkerFileHandle {
  createSyncAccessHandle(): Promise<{
    write(bytes: Uint8Array, options: { readonly at: number }): number;
    read(bytes: Uint8Array, options: { readonly at: number }): number;
    flush(): void;
    close(): void;
  }>;
}

/**
 * A file for each content.
 * @param isFlushed wait for the disk after a write
 * @param isOpened read with an exclusive handle, not as a `File`
 */
async function fileStore(isFlushed: boolean, isOpened: boolean): Promise<ContentStore> {
  const origin = await navigator.storage.getDirectory();
  const folder = await origin.getDirectoryHandle(`${isFlushed}-${isOpened}`, { create: true });
  const open = async (name: string) => {
    const file: unknown = await folder.getFileHandle(name, { create: true });
    return (file as WorkerFileHandle).createSyncAccessHandle();
  };
  return {
    write: async (name, bytes) => {
      const handle = await open(name);
      for (let at = 0; at < bytes.length; at += MIB) handle.write(bytes.subarray(at, at + MIB), { at });
      if (isFlushed) handle.flush();
      handle.close();
    },
    read: async (name, offset, length) => {
      if (!isOpened) {
        const file = await (await folder.getFileHandle(name)).getFile();
        return new Uint8Array(await file.slice(offset, offset + length).arrayBuffer());
      }
      const handle = await open(name);
      const bytes = new Uint8Array(length);
      handle.read(bytes, { at: offset });
      handle.close();
      return bytes;
    },
  };
}

async function storageStore(contents: 'database' | 'opfs'): Promise<ContentStore> {
  // A client has its own writes in memory, so another one reads.
  const open = () =>
    createFileSystem({ storage: new IndexedDbStorage(`in-${contents}`, { contents, maxCacheBytes: 0 }) });
  const [writer, reader] = [await open(), await open()];
  return {
    write: (name, bytes) => writer.writeFile(`/${name}`, bytes),
    read: async (name, offset, length) => {
      await using file = await reader.open(`/${name}`);
      const bytes = new Uint8Array(length);
      await file.read(bytes, offset);
      return bytes;
    },
  };
}

const STORES: Readonly<Record<string, () => Promise<ContentStore>>> = {
  'IndexedDB, an ArrayBuffer': () => indexedDbStore('whole', WHOLE, (bytes) => bytes.buffer),
  'IndexedDB, ArrayBuffers of 1 MiB': () => indexedDbStore('parts', MIB, (bytes) => bytes.buffer),
  'IndexedDB, a Blob': () => indexedDbStore('blobs', WHOLE, (bytes) => new Blob([bytes])),
  IndexedDbStorage: () => storageStore('database'),
  "IndexedDbStorage, contents 'opfs'": () => storageStore('opfs'),
  'private files': () => fileStore(false, true),
  'private files, flushed': () => fileStore(true, true),
  'private files, flushed, read as a File': () => fileStore(true, false),
};

/**
 * Measures contents in IndexedDB and in the origin private file system, in turns. It needs a worker. The contents are
 * random, because Chromium compresses what it stores. Returns the least times of the rounds.
 */
export async function contentRates(bytes: number, rounds: number): Promise<Record<string, ContentTimes>> {
  const content = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(content.subarray(at, at + 65_536));
  const stores: [string, ContentStore][] = [];
  for (const [name, open] of Object.entries(STORES)) stores.push([name, await open()]);
  const least: Record<string, ContentTimes> = {};
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const started = performance.now();
    await work();
    return performance.now() - started;
  };
  for (let round = 0; round < rounds; round++)
    for (const [name, store] of stores) {
      const key = `${bytes}-${round}`;
      const length = Math.min(RANGE, bytes);
      const write = await timed(() => store.write(key, content));
      const range = await timed(() => store.read(key, (bytes - length) >> 1, length));
      let found: Uint8Array = content;
      const read = await timed(async () => {
        found = await store.read(key, 0, bytes);
      });
      if (found.length !== bytes || found[bytes - 1] !== content[bytes - 1]) throw new Error(`${name} lost bytes`);
      const before = least[name] ?? { write, read, range };
      least[name] = {
        write: Math.min(before.write, write),
        read: Math.min(before.read, read),
        range: Math.min(before.range, range),
      };
    }
  return least;
}
