import { type BackendCall, StorageError } from '@scratchfs/core';
import type { NamePage, ObjectStore, StoredHead, StoredObject } from '@scratchfs/core/object-tree';
import { Database, HEADS, OBJECTS } from './database.js';
import { toStorageError } from './indexed-db-errors.js';
import { PrivateFiles } from './private-files.js';

const NAMES_PER_PAGE = 1_000;
/** Greatest size of an object if all lie in IndexedDB, which reads whole values only: a range costs as much as all. */
const MAX_VALUE_BYTES = 2 ** 20;
/**
 * Value of an object whose bytes lie in a private file. It is stored once the file is complete; until then, no client
 * reads the file.
 */
const IN_FILE = true;
/** Greater than every character of a name. */
const LAST = '~';

interface HeadRow {
  readonly tag: string;
  readonly bytes: ArrayBuffer;
}

/** Stores the objects of a filesystem, and its head, in an IndexedDB database, and large objects in private files. */
export class IndexedDbObjectStore implements ObjectStore {
  readonly maxObjectBytes: number | undefined;
  readonly #name: string;
  readonly #database: Database;
  readonly #files: PrivateFiles;
  readonly #minFileBytes: number;
  readonly #writing: IDBTransactionOptions;
  readonly #watchers = new Set<{ readonly changed: () => void }>();
  /** Name of the `BroadcastChannel` on which clients tell each other that the head has changed. */
  readonly #channelName: string;
  #channel: BroadcastChannel | undefined;

  /**
   * @param isFlushed whether a commit waits for the disk
   * @param minFileBytes size from which a new object becomes a private file; only in workers
   */
  constructor(database: string, name: string, isFlushed: boolean, minFileBytes?: number) {
    this.#name = name;
    this.#minFileBytes = minFileBytes ?? Number.POSITIVE_INFINITY;
    this.maxObjectBytes = minFileBytes === undefined ? MAX_VALUE_BYTES : undefined;
    this.#database = new Database(database, () => this.#changed());
    this.#writing = { durability: isFlushed ? 'strict' : 'relaxed' };
    this.#channelName = `scratchfs ${database} ${name}`;
    this.#files = new PrivateFiles(this.#channelName);
  }

  async get(name: string, offset: number, length: number, _call?: BackendCall): Promise<Uint8Array | undefined> {
    const value: unknown = await this.#read(OBJECTS, (store) => store.get(this.#key(name)));
    if (value === IN_FILE) return this.#files.read(name, offset, length);
    return value === undefined ? undefined : rangeOf(value, offset, length);
  }

  async put(name: string, bytes: Uint8Array, _call?: BackendCall): Promise<void> {
    if (bytes.length < this.#minFileBytes)
      return this.#write([OBJECTS], (transaction) => this.#put(transaction, name, bytes));
    await this.#files.write(name, bytes);
    await this.#write([OBJECTS], (transaction) => transaction.objectStore(OBJECTS).put(IN_FILE, this.#key(name)));
  }

  async delete(names: readonly string[], _call?: BackendCall): Promise<void> {
    await this.#files.delete(names);
    await this.#write([OBJECTS], (transaction) => {
      const store = transaction.objectStore(OBJECTS);
      for (const name of names) store.delete(this.#key(name));
    });
  }

  async list(prefix: string, cursor?: string, _call?: BackendCall): Promise<NamePage> {
    const [from, to] = [this.#key(cursor ?? prefix), this.#key(`${prefix}${LAST}`)];
    const range = IDBKeyRange.bound(from, to, cursor !== undefined, true);
    const keys = await this.#read(OBJECTS, (store) => store.getAllKeys(range, NAMES_PER_PAGE));
    const names = (keys ?? []).map((key) => String(key).slice(this.#name.length + 1));
    const next = names.length === NAMES_PER_PAGE ? names.at(-1) : undefined;
    // Also the files without a value: a tab was killed while it wrote, or the database was deleted.
    if (cursor === undefined) names.push(...(await this.#files.list(prefix)));
    return { names, cursor: next };
  }

  async readHead(known: string | undefined, _call?: BackendCall): Promise<StoredHead | 'unchanged' | undefined> {
    const row: HeadRow | undefined = await this.#read(HEADS, (store) => store.get(this.#name));
    if (row === undefined) return undefined;
    return row.tag === known ? 'unchanged' : { tag: row.tag, bytes: rangeOf(row.bytes, 0, Number.POSITIVE_INFINITY) };
  }

  swapHead(bytes: Uint8Array, expected: string | undefined, _call?: BackendCall): Promise<string | undefined> {
    return this.#swap([HEADS], [], bytes, expected);
  }

  commit(
    objects: readonly StoredObject[],
    head: Uint8Array,
    expected: string,
    _call?: BackendCall,
  ): Promise<string | undefined> {
    return this.#swap([HEADS, OBJECTS], objects, head, expected);
  }

  watch(changed: () => void): () => void {
    // A separate channel, because a channel does not receive the messages that it sends itself.
    const channel = new BroadcastChannel(this.#channelName);
    channel.onmessage = changed;
    const watcher = { changed };
    this.#watchers.add(watcher);
    return () => {
      channel.close();
      this.#watchers.delete(watcher);
    };
  }

  async deleteHead(_call?: BackendCall): Promise<void> {
    await this.#files.deleteFolder();
    await this.#write([HEADS], (transaction) => {
      transaction.objectStore(HEADS).delete(this.#name);
      this.#announce();
    });
  }

  /** Returns the names of the filesystems in the database, sorted. */
  async names(): Promise<string[]> {
    const keys = await this.#read(HEADS, (store) => store.getAllKeys());
    return (keys ?? []).map(String).sort();
  }

  close(): Promise<void> {
    this.#channel?.close();
    return this.#database.close();
  }

  #swap(
    stores: readonly string[],
    objects: readonly StoredObject[],
    bytes: Uint8Array,
    expected: string | undefined,
  ): Promise<string | undefined> {
    return this.#write<string>(stores, (transaction, done) => {
      const heads = transaction.objectStore(HEADS);
      const request = heads.get(this.#name);
      request.onsuccess = () => {
        if ((request.result as HeadRow | undefined)?.tag !== expected) return;
        const tag = newTag();
        heads.put({ tag, bytes: bufferOf(bytes) } satisfies HeadRow, this.#name);
        for (const { name, bytes: content } of objects) this.#put(transaction, name, content);
        // Before the commit, so that it is announced even if the tab ends now. A client that reads the head because of
        // it waits for this transaction.
        this.#announce();
        done(tag);
        transaction.commit();
      };
    });
  }

  #put(transaction: IDBTransaction, name: string, bytes: Uint8Array): void {
    transaction.objectStore(OBJECTS).put(bufferOf(bytes), this.#key(name));
  }

  #key(name: string): string {
    return `${this.#name}/${name}`;
  }

  #announce(): void {
    this.#channel ??= new BroadcastChannel(this.#channelName);
    this.#channel.postMessage('');
  }

  #changed(): void {
    for (const { changed } of [...this.#watchers]) changed();
  }

  /** Returns the result of a request; undefined if the database does not exist. */
  async #read<T>(name: string, send: (store: IDBObjectStore) => IDBRequest<T>): Promise<T | undefined> {
    try {
      return await this.#database.transact<T>([name], 'readonly', {}, (transaction, done) => {
        const request = send(transaction.objectStore(name));
        request.onsuccess = () => done(request.result);
      });
    } catch (error) {
      throw await toStorageError(error);
    }
  }

  async #write<T>(
    stores: readonly string[],
    work: (transaction: IDBTransaction, done: (result: T) => void) => void,
  ): Promise<T | undefined> {
    try {
      return await this.#database.transact(stores, 'readwrite', this.#writing, work);
    } catch (error) {
      throw await toStorageError(error);
    }
  }
}

/** Returns a random tag, so that none is used twice, even if the database is deleted and created again. */
function newTag(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('.');
}

/** Returns a buffer that contains these bytes only, because IndexedDB stores the whole buffer of a view. */
function bufferOf(bytes: Uint8Array): ArrayBuffer {
  const { buffer } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength ? buffer : bytes.slice().buffer;
}

function rangeOf(value: unknown, offset: number, length: number): Uint8Array {
  if (!(value instanceof ArrayBuffer))
    throw new StorageError('corrupt', 'A value in the database of the filesystem holds no bytes');
  const end = Math.min(value.byteLength, offset + length);
  // A view would keep the whole value in memory, so a range of less than half is copied.
  if (end - offset < value.byteLength / 2) return new Uint8Array(value.slice(Math.min(offset, end), end));
  return new Uint8Array(value, offset, end - offset);
}
